"""What search brings up: both arms, ranked in the database as app/scoring/relevance.py ranks."""

from dataclasses import replace

import numpy as np
import pytest

from app.domain.entries import Category, Tier
from app.scoring.relevance import Calibration, relevance
from tests.integration.stores import heard

THINGS = ("bees", "chess", "tea", "rain", "Rome", "apples", "trains", "violins", "rivers", "bread", "maps", "cats")


def some_texts(number, seed=1):
    random = np.random.default_rng(seed)
    return [f"{' '.join(random.choice(THINGS, random.integers(1, 6)))} number {i}" for i in range(number)]


def relevance_of(candidate, *, cosine=True):
    seen = candidate.cosine_similarity if cosine else None
    return relevance(seen, candidate.bm25_score, candidate.coverage, Calibration())


@pytest.mark.parametrize("limit", [1, 10, 40])
async def test_the_cut_keeps_what_python_would_keep(space, limit):
    await space.fill(some_texts(200))
    for query in ("bees and chess", "apples rivers", "tea number 17"):
        seen = await space.search(query, limit=1000)
        by_dense = sorted(seen, key=lambda c: -c.cosine_similarity)[:limit]
        by_word = sorted((c for c in seen if c.bm25_score is not None), key=lambda c: -c.bm25_score)[:limit]
        dense = {c.id for c in by_dense}
        pool = {c.id: c for c in (*by_dense, *by_word)}.values()
        best = sorted(pool, key=lambda c: (-relevance_of(c, cosine=c.id in dense), c.id))[:limit]
        found = await space.search(query, limit=limit)
        assert {c.id for c in found} == {c.id for c in best}


async def test_what_one_arm_brought_up_carries_what_the_other_would_say(space):
    await space.fill(some_texts(200))
    everything = {c.id: c for c in await space.search("bees rivers", limit=1000)}
    few = await space.search("bees rivers", limit=8)
    assert [(c.cosine_similarity, c.bm25_score) for c in few] == [
        pytest.approx((everything[c.id].cosine_similarity, everything[c.id].bm25_score), abs=1e-9) for c in few
    ]


async def test_a_rare_word_brings_up_an_entry_that_no_vector_finds(space):
    """Public report ret-01: 500 others lie nearer to the question, and the exact match is the most relevant."""
    await space.fill(some_texts(500))
    wanted = (await space.write("ticket ZX-4471 approved")).entry
    asked = await space.store.ask("Has somebody looked at the trains and the number yet?")
    plan = space.plan("ZX-4471")
    found = (await space.store.retriever.retrieve(plan, heard(asked))).candidates
    assert len(found) == 100
    hit = next(c for c in found if c.id == wanted.id)
    assert hit.cosine_similarity < min(0.1, np.median([c.cosine_similarity for c in found]))
    by_vector_alone = (await space.store.retriever.retrieve(replace(plan, terms=()), heard(asked))).candidates
    assert wanted.id not in {c.id for c in by_vector_alone}
    assert max(found, key=relevance_of).id == wanted.id


async def test_without_a_vector_the_words_still_find_and_the_gap_is_named(space):
    await space.fill(some_texts(50))
    retrieved = await space.store.retriever.retrieve(space.plan("violins"), heard(await space.store.ask("")))
    assert retrieved.degraded == ("dense",)
    assert retrieved.candidates
    assert all("violins" in c.text and c.cosine_similarity is None for c in retrieved.candidates)


async def test_the_order_of_the_words_changes_neither_what_is_found_nor_its_scores(space):
    await space.fill(some_texts(150))
    plan = space.plan("bees rivers bread", limit=1000)
    one, other = [
        {
            c.id: (c.bm25_score, c.coverage)
            for c in (await space.store.retriever.retrieve(each, heard(await space.store.ask("")))).candidates
        }
        for each in (plan, replace(plan, terms=plan.terms[::-1]))
    ]
    assert one.keys() == other.keys()
    assert len(one) > 50
    assert all(one[i] == pytest.approx(other[i], rel=1e-12) for i in one)


async def turn_round(space, table):
    """Write the rows of a space anew, the newest entry first."""
    columns = await space.store.sql(
        """SELECT string_agg(attname, ', ') AS names FROM pg_attribute
            WHERE attrelid = %s::regclass AND attnum > 0 AND attgenerated = ''""",
        table,
    )
    names = columns[0]["names"]
    await space.rows(
        f"""WITH gone AS (DELETE FROM {table} WHERE tenant_id = %(tenant)s AND space_id = %(space)s RETURNING *)
            INSERT INTO {table} ({names}) SELECT {names} FROM gone ORDER BY id DESC"""
    )
    await space.store.sql(f"VACUUM (ANALYZE) {table}")


@pytest.mark.parametrize("arms", ["dense", "lexical", "both"])
async def test_of_equal_entries_the_same_are_kept_however_the_rows_lie(space, arms):
    effects = await space.fill(["Ana keeps bees."] * 60, tier=Tier.EPISODES)
    oldest = sorted(effect.entry.id for effect in effects)[:10]
    assert sorted(c.id for c in await space.search("bees", arms=arms, limit=10)) == oldest
    for table in ("entry_vectors", "entry_postings"):
        await turn_round(space, table)
    assert sorted(c.id for c in await space.search("bees", arms=arms, limit=10)) == oldest


async def test_each_tier_has_its_own_limit(space):
    for tier in Tier:
        await space.fill(some_texts(30), tier=tier)
    found = await space.search("bees", limit=7)
    assert {tier: sum(c.tier is tier for c in found) for tier in Tier} == dict.fromkeys(Tier, 7)


async def test_preferences_come_whatever_the_query_the_important_first_and_again_as_hits(space):
    await space.fill(some_texts(100))
    kinds = (Category.OUTPUT_PREFERENCE, Category.PERSONAL_PREFERENCE, Category.ASSISTANT_PREFERENCE)
    for number, kind in enumerate(kinds):
        await space.write(f"Answer briefly, rule {number}.", category=kind, importance=0.7 + number / 10)
    await space.write("Answer loudly.", category=Category.OUTPUT_PREFERENCE, importance=0.69)
    await space.write("Answer warmly.", category=Category.OUTPUT_PREFERENCE)
    await space.write("Ana works as a beekeeper.", category=Category.WORK, importance=1.0)
    for query in ("rivers", "violins", ""):
        found = [c for c in await space.search(query, limit=5) if c.is_preference]
        assert [c.text for c in found] == [f"Answer briefly, rule {n}." for n in (2, 1, 0)]


async def test_pinned_entries_come_whatever_the_query(space):
    pinned = (await space.write("Nothing about it.")).entry
    await space.fill(some_texts(100))
    plan = replace(space.plan("bees", limit=5), pinned=(pinned.id,))
    assert pinned.id not in {c.id for c in await space.search("bees", limit=5)}
    asked = await space.store.ask("bees")
    found = (await space.store.retriever.retrieve(plan, heard(asked))).candidates
    assert pinned.id in {c.id for c in found}
    assert len(found) == 6


async def test_a_tiny_space_beside_a_huge_one_is_found_in_full(store):
    """A popular peer answers a small tenant with 6.6 of its 10 entries, and at times with none."""
    caller = store.tenant()
    huge, tiny = store.space("user:huge", caller), store.space("user:tiny", caller)
    await huge.fill(some_texts(1000))
    await tiny.fill(some_texts(10, seed=9))
    for query in ("bees chess", "apples", "rivers of bread", "number"):
        assert len(await tiny.search(query, arms="dense", limit=10)) == 10
        assert len(await tiny.search(query)) == 10


@pytest.mark.parametrize("text", ["Γιαγιά μένει στην Αθήνα", "🐝🐝 every summer", "猫が好きです", "ไปเที่ยวเชียงใหม่"])
async def test_texts_of_any_script_are_found_by_their_own_words(space, text):
    """Public report contra-11: emoji and other scripts were found or not, by chance."""
    await space.fill(some_texts(120))
    wanted = (await space.write(text)).entry
    for query in (text, text.split()[0]):
        found = await space.search(query, arms="lexical")
        assert found
        assert max(found, key=lambda c: c.bm25_score).id == wanted.id
