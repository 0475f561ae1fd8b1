"""Cosine similarities: those of centred vectors, whatever the centre of the space is by now."""

import numpy as np
import pytest

from app.domain.entries import Tier

TEXTS = [
    f"Ana told us about {thing} number {i}." for i, thing in enumerate(["bees", "chess", "tea", "rain", "Rome"] * 12)
]


async def centre_of(space):
    rows = await space.rows(
        "SELECT * FROM space_centres WHERE tenant_id = %(tenant)s AND space_id = %(space)s AND model_id = %(model)s",
        model=space.store.model.id,
    )
    assert len(rows) <= 1
    return rows[0] if rows else None


def numbers(text):
    return np.array(text.strip("[]").split(","), dtype=np.float32)


async def point_of(space):
    row = await centre_of(space)
    return space.store.model.mean if row is None else numbers(row["centre"])


async def assert_cosines_are_centred(space, query):
    """The returned cosines, and the stored norms, against numpy."""
    embedder, model = space.store.embedder, space.store.model
    centre = await point_of(space)
    question = await embedder.embed_query(query) - model.question_shift - centre
    candidates = await space.search(query, arms="dense", limit=1000)
    vectors = await embedder.embed_documents([c.text for c in candidates]) - centre
    norms = np.linalg.norm(vectors, axis=1)
    cosines = vectors @ question / (norms * np.linalg.norm(question))
    assert [c.cosine_similarity for c in candidates] == pytest.approx(list(cosines), abs=2e-3)
    stored = await space.rows(
        """SELECT embedding::text, centred_norm FROM entry_vectors
            WHERE tenant_id = %(tenant)s AND space_id = %(space)s AND model_id = %(model)s""",
        model=model.id,
    )
    expected = [float(np.linalg.norm(numbers(row["embedding"]) - centre)) for row in stored]
    assert [row["centred_norm"] for row in stored] == pytest.approx(expected, abs=2e-3)
    return candidates


async def test_cosines_are_centred_before_and_after_the_space_has_a_centre_of_its_own(space):
    versions = []
    for start, end in ((0, 1), (1, 9), (9, 10), (10, 14), (14, 15), (15, 22), (22, 23), (23, 60)):
        await space.fill(TEXTS[start:end])
        assert len(await assert_cosines_are_centred(space, "Tell me about bees.")) == end
        row = await centre_of(space)
        versions.append(row and (row["version"], row["entries_count"]))
    assert versions == [None, None, (1, 10), (1, 10), (2, 15), (2, 15), (3, 23), (4, 60)]


async def test_the_centre_is_the_mean_of_the_space_drawn_towards_the_models_while_it_is_small(space):
    await space.fill(TEXTS[:10])
    vectors = await space.store.embedder.embed_documents(TEXTS[:10])
    expected = 0.25 * vectors.mean(axis=0) + 0.75 * space.store.model.mean
    assert await point_of(space) == pytest.approx(expected, abs=1e-3)


async def test_all_tiers_have_one_centre(space):
    await space.fill(TEXTS[:5])
    await space.fill(TEXTS[5:9], tier=Tier.EPISODES)
    await space.fill(TEXTS[9:10], tier=Tier.PROCEDURES)
    assert (await centre_of(space))["entries_count"] == 10
    assert len(await assert_cosines_are_centred(space, "rain")) == 10


async def test_norms_follow_edits_and_deletions_too(space):
    effects = await space.fill(TEXTS[:12])
    await space.edit(effects[0].entry, text="Something else entirely happened in Milan.")
    await space.delete(effects[1].entry)
    assert len(await assert_cosines_are_centred(space, "Milan")) == 11


async def test_a_space_of_equal_texts_has_finite_cosines(space):
    await space.fill(["Ana keeps bees."] * 30)
    found = await space.search("Ana keeps bees.", arms="dense")
    assert all(np.isfinite(c.cosine_similarity) for c in found)
    assert len(found) == 30
