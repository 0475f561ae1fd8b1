"""What must hold between the tables of a space, whatever was written to it."""

from collections import Counter, defaultdict

import numpy as np

from app.contradictions.claims import claim_key, value_key
from app.domain.entries import Cardinality, Claim, indexed
from app.domain.spaces import scope_key
from app.text.terms import document_terms, term_hash

OF = "WHERE tenant_id = %(tenant)s AND space_id = %(space)s"


async def assert_consistent(space):
    """Indexes, claims and statistics of a space follow from its versions alone."""
    versions = await space.rows(f"SELECT * FROM entry_versions {OF} ORDER BY id, version")
    current = _assert_append_only(versions)
    served = {(v["id"], v["text_version"]): v for v in current.values() if v["status"] == "active"}
    texts = {(v["id"], v["version"]): v for v in versions if v["version"] == v["text_version"]}
    await _assert_vectors(space, texts, served)
    await _assert_postings(space, texts, served)
    await _assert_statistics(space, served, texts)
    await _assert_claims(space, current)


def _assert_append_only(versions):
    """Each version closes the one before it, at its own time; returns the current ones by id."""
    by_id = defaultdict(list)
    for version in versions:
        by_id[version["id"]].append(version)
    for chain in by_id.values():
        assert [v["version"] for v in chain] == list(range(1, len(chain) + 1))
        assert [v["closed_at"] for v in chain] == [*(v["recorded_at"] for v in chain[1:]), None]
        assert [v["sequence"] for v in chain] == sorted({v["sequence"] for v in chain})
        assert [v["recorded_at"] for v in chain] == sorted(v["recorded_at"] for v in chain)
        assert {v["first_recorded_at"] for v in chain} == {chain[0]["recorded_at"]}
    return {entry_id: chain[-1] for entry_id, chain in by_id.items()}


def _mirror(version):
    return (
        str(version["tier"]),
        scope_key(version["scope"]),
        version["occurred_at"] or version["valid_from"],
        version["valid_to"],
    )


def _assert_mirrored(row, served):
    version = served.get((row["id"], row["text_version"]))
    assert row["live"] == (version is not None)
    if version is not None:
        assert (row["tier"], row["scope_key"], row["holds_from"], row["holds_to"]) == _mirror(version)


async def _assert_vectors(space, texts, served):
    """The model that serves the space has one of each text; another one, while models change, none beside."""
    rows = await space.rows(f"SELECT * FROM entry_vectors {OF}")
    found = Counter((row["model_id"], row["id"], row["text_version"]) for row in rows)
    for (serving,) in [
        s.values()
        for s in await space.rows("""SELECT model_id FROM spaces
                       WHERE tenant_id = %(tenant)s AND id = %(space)s""")
    ]:
        assert Counter({k[1:]: n for k, n in found.items() if k[0] == serving}) == Counter(texts.keys())
    assert {key[1:] for key in found} <= texts.keys()
    assert set(found.values()) <= {1}
    for row in rows:
        _assert_mirrored(row, served)


async def _assert_postings(space, texts, served):
    rows = await space.rows(f"SELECT * FROM entry_postings {OF}")
    found = defaultdict(dict)
    for row in rows:
        _assert_mirrored(row, served)
        found[row["id"], row["text_version"]][row["term"]] = (row["tf"], row["length"])
    for key, version in texts.items():
        terms = document_terms(*indexed(version["trigger"], version["text"], version["context"]))
        expected = {term_hash(t): (np.float32(n), terms.length_words) for t, n in terms.frequencies.items()}
        assert found.pop(key, {}) == expected
        assert sorted(version["terms"]) == sorted(expected)
        assert version["term_count"] == terms.length_words
    assert found == {}


async def _assert_statistics(space, served, texts):
    stored = await space.rows(f"SELECT tier::text, documents, terms FROM tier_statistics {OF}")
    documents, terms = Counter(), Counter()
    for key, version in served.items():
        documents[str(version["tier"])] += 1
        terms[str(version["tier"])] += texts[key]["term_count"]
    counted = {row["tier"]: (row["documents"], row["terms"]) for row in stored if row["documents"] or row["terms"]}
    assert counted == {tier: (documents[tier], terms[tier]) for tier in documents}


async def _assert_claims(space, current):
    rows = await space.rows(f"SELECT * FROM claims {OF}")
    found = {row["id"]: row for row in rows}
    expected = {}
    for entry_id, version in current.items():
        if version["status"] == "active" and version["claim_subject"] is not None:
            claim = Claim(
                version["claim_subject"],
                version["claim_attribute"],
                version["claim_value"],
                Cardinality(version["claim_cardinality"]),
            )
            expected[entry_id] = (*claim_key(claim), value_key(claim), version["scope"], version["unresolved"])
    assert {
        i: (row["subject"], row["attribute"], row["value"], row["scope"], row["unresolved"]) for i, row in found.items()
    } == expected
    leading = defaultdict(int)
    for row in rows:
        if not row["unresolved"]:
            leading[row["scope"], row["subject"], row["attribute"]] += not row["restated"]
    assert all(count == 1 for count in leading.values()), leading
