"""Writes: nothing is lost, nothing is done twice, every index follows, and erased is erased."""

import asyncio
from collections import Counter

import numpy as np
import psycopg
import pytest

from app.domain.entries import Author, Category, Content, Status, Tier
from app.domain.errors import ConflictError, IdempotencyConflictError, NotFoundError
from app.domain.idempotency import IdempotencyKey
from tests.integration.consistency import assert_consistent
from tests.integration.stores import claim, day

FULL = {
    "text": "Ana keeps bees on the roof.",
    "category": Category.INTEREST,
    "tags": ("hobby", "animals"),
    "scope": "story:a/scene:ball",
    "claim": claim("hobby", "bees"),
    "importance": 0.8,
    "confidence": 0.9,
    "valid_from": day(2020),
    "valid_to": day(2030),
    "author": Author("Ana", "twitch", "42"),
    "session": "s1",
    "context": "They spoke about honey.",
    "source": "msg-7",
}


def key(name, body=b"one"):
    return IdempotencyKey(name, body)


async def test_an_entry_is_read_back_as_it_was_written(space):
    for tier, content in {
        Tier.MEMORIES: Content(**FULL),
        Tier.EPISODES: Content(text="They danced.", occurred_at=day(2024), participants=("Ana", "Ben")),
        Tier.PROCEDURES: Content(text="Smoke, then open.", trigger="opening a hive"),
    }.items():
        (effect,) = await space.create(content, tier=tier)
        assert await space.get(effect.entry.id) == effect.entry
        assert effect.entry.content == content
        assert (effect.entry.tier, effect.entry.version, effect.entry.status) == (tier, 1, Status.ACTIVE)
    await assert_consistent(space)


async def test_twenty_parallel_writers_to_one_space_lose_nothing(space):
    texts = [[f"Writer {w} says sentence {n}." for n in range(5)] for w in range(20)]
    written = await asyncio.gather(*(space.fill(each) for each in texts))
    sequences = sorted(effect.entry.sequence for effects in written for effect in effects)
    assert len(set(sequences)) == 100
    assert sorted(await space.texts("sentence", limit=500)) == sorted(text for each in texts for text in each)
    await assert_consistent(space)


async def test_writers_of_different_spaces_do_not_wait_for_each_other(store):
    caller = store.tenant()
    one, other = store.space("user:one", caller), store.space("user:other", caller)
    async with store.entries.store.unit(one.key):
        await asyncio.wait_for(other.write("Not waiting."), timeout=5)


async def test_a_write_that_fails_leaves_nothing(space):
    entry = (await space.write("Ana keeps bees.")).entry

    async def erase_and_be_cancelled():
        async with space.store.entries.store.unit(space.key) as unit:
            await unit.erase(entry)
            raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await erase_and_be_cancelled()
    assert await space.texts("bees") == ["Ana keeps bees."]
    await assert_consistent(space)


async def test_one_bad_entry_of_a_batch_stores_none_of_it(space):
    with pytest.raises(psycopg.DataError, match="NUL"):
        await space.create(Content(text="Good."), Content(text="Bad \x00."))
    assert await space.texts("good") == []
    await assert_consistent(space)


async def test_the_same_key_and_body_write_once_and_answer_alike(space):
    contents = [Content(text="Ana keeps bees."), Content(text="Ana keeps hens.")]
    first = await space.create(*contents, idempotency=key("k"))
    again = await space.create(*contents, idempotency=key("k"))
    assert again == first
    assert len(await space.texts("Ana")) == 2


async def test_the_same_key_twenty_times_at_once_writes_once(space):
    outcomes = await asyncio.gather(
        *(space.create(Content(text="Ana keeps bees."), idempotency=key("k")) for _ in range(20))
    )
    assert len({effect.entry.id for (effect,) in outcomes}) == 1
    assert await space.texts("Ana") == ["Ana keeps bees."]


async def test_the_same_key_with_another_body_is_refused(space):
    await space.create(Content(text="Ana keeps bees."), idempotency=key("k"))
    with pytest.raises(IdempotencyConflictError):
        await space.create(Content(text="Ana keeps hens."), idempotency=key("k", b"other"))
    assert await space.texts("Ana") == ["Ana keeps bees."]


async def test_the_same_key_in_two_spaces_at_once_is_taken_by_one(store):
    caller = store.tenant()
    spaces = [store.space(f"user:{n}", caller) for n in range(8)]
    outcomes = await asyncio.gather(
        *(s.create(Content(text="Bees."), idempotency=key("k", s.name.encode())) for s in spaces),
        return_exceptions=True,
    )
    assert Counter(type(o) for o in outcomes) == {tuple: 1, IdempotencyConflictError: 7}
    found = [text for s in spaces for text in await s.texts("bees")]
    assert found == ["Bees."]


async def test_a_key_belongs_to_its_tenant(store):
    for _ in range(2):
        (effect,) = await store.space().create(Content(text="Bees."), idempotency=key("shared"))
        assert effect.entry.version == 1


async def test_a_key_is_free_again_after_a_day(space):
    await space.create(Content(text="Bees."), idempotency=key("k"))
    await space.rows(
        """UPDATE idempotency_keys SET created_at = created_at - interval '25 hours'
            WHERE tenant_id = %(tenant)s AND %(space)s::uuid IS NOT NULL"""
    )
    await space.create(Content(text="Hens."), idempotency=key("k", b"other"))
    assert sorted(await space.texts("bees hens")) == ["Bees.", "Hens."]


async def test_what_a_key_wrote_and_was_erased_is_not_written_again(space):
    (effect,) = await space.create(Content(text="Bees."), idempotency=key("k"))
    await space.delete(effect.entry)
    with pytest.raises(ConflictError, match="erased"):
        await space.create(Content(text="Bees."), idempotency=key("k"))


async def test_an_edit_is_a_new_version_found_by_its_new_text_alone(space):
    first = (await space.write("Ana keeps bees.")).entry
    second = (await space.edit(first, text="Ana keeps hens.", importance=0.9)).entry
    assert (second.version, second.text_version, second.reason) == (2, 2, "edited")
    assert second.first_recorded_at == first.recorded_at < second.recorded_at
    assert await space.texts("bees", arms="lexical") == []
    assert await space.texts("hens", arms="lexical") == ["Ana keeps hens."]
    assert await space.texts("Ana bees hens") == ["Ana keeps hens."]
    assert await space.history(first) == (second, first)
    await assert_consistent(space)


async def test_an_edit_of_anything_else_keeps_the_index_and_moves_what_the_arms_filter_by(space):
    first = (await space.write("Ana keeps bees.")).entry
    written = "SELECT xmin, ctid FROM entry_postings WHERE tenant_id = %(tenant)s AND space_id = %(space)s"
    before = await space.rows(written)
    await space.edit(first, importance=0.9)
    assert await space.rows(written) == before
    moved = (await space.edit(first, scope="story:a", valid_from=day(2020), valid_to=day(2095))).entry
    assert moved.text_version == 1
    await assert_consistent(space)


async def test_undo_goes_back_and_undoing_again_redoes(space):
    first = (await space.write("Ana keeps bees.", importance=0.3)).entry
    second = (await space.edit(first, text="Ana keeps hens.", importance=0.9)).entry
    for wanted in (first, second, first, second):
        undone = (await space.undo(first)).entry
        assert (undone.content, undone.reason) == (wanted.content, "undo")
        assert await space.texts("bees hens") == [wanted.content.text]
        await assert_consistent(space)
    assert [e.version for e in await space.history(first)] == [6, 5, 4, 3, 2, 1]


async def test_there_is_nothing_to_undo_in_a_first_version(space):
    entry = (await space.write("Ana keeps bees.")).entry
    with pytest.raises(ConflictError, match="no earlier version"):
        await space.undo(entry)


async def test_erasing_leaves_no_row_with_the_id_or_the_text_in_any_table(space):
    secret = "xylophonist"
    old = (await space.write("Ana lives in Rome.", claim=claim("residence", "Rome"), valid_from=day(2020))).entry
    entry = (await space.write(f"The {secret} lives in Oslo.", claim=claim("residence", "Oslo"))).entry
    entry = (await space.edit(entry, context=f"{secret} again", tags=(secret,))).entry
    assert (await space.get(old.id)).superseded_by == entry.id
    await space.rows("INSERT INTO entry_uses VALUES (%(tenant)s, %(space)s, %(id)s, 3, 's1')", id=entry.id.uuid)
    await space.rows("INSERT INTO procedure_outcomes VALUES (%(tenant)s, %(space)s, %(id)s, 1, 1)", id=entry.id.uuid)
    for kept, superseded in ((entry, old), (old, entry)):
        await space.rows(
            """INSERT INTO supersession_proposals
               VALUES (%(tenant)s, %(space)s, %(kept)s, 1, %(old)s, 1, 'claim', now())""",
            kept=kept.id.uuid,
            old=superseded.id.uuid,
        )
    assert len(await traces(space, secret, str(entry.id.uuid))) >= 6
    erased = await space.delete(entry)
    assert {kind for kind, n in erased.removed.items() if not n} == {"corrections", "assemblies"}
    assert await traces(space, secret, str(entry.id.uuid)) == []
    with pytest.raises(NotFoundError):
        await space.get(entry.id)
    assert (await space.get(old.id)).status is Status.SUPERSEDED
    await assert_consistent(space)


async def traces(space, *needles):
    """Tables of the catalog with a row that holds one of the needles anywhere."""
    tables = await space.store.sql(
        "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')"
    )
    found = []
    for name in sorted(row["relname"] for row in tables):
        for needle in needles:
            rows = await space.store.sql(f"SELECT 1 FROM {name} t WHERE t::text ILIKE %s LIMIT 1", f"%{needle}%")
            found += [name] * len(rows)
    return found


async def test_a_procedures_outcomes_move_its_confidence(space):
    entry = (await space.write("Smoke, then open.", Tier.PROCEDURES, trigger="opening a hive", confidence=0.5)).entry
    service, caller = space.store.entries, space.caller
    confidences = []
    for success in (True, True, False):
        effect = await service.record_outcome(caller, entry.id, success=success)
        confidences.append(effect.entry.content.confidence)
    assert confidences == pytest.approx([2 / 3, 3 / 4, 3 / 5])
    assert effect.entry.text_version == 1
    await assert_consistent(space)


def known(entries, effects):
    """A repetition is the entry that it reinforced."""
    return list({entry.id: entry for entry in (*entries, *(effect.entry for effect in effects))}.values())


@pytest.mark.parametrize("seed", range(3))
async def test_after_any_sequence_of_writes_every_index_follows_from_the_versions(space, seed):
    random = np.random.default_rng(seed)
    towns, scopes = ("Rome", "Milan", "Turin", "Rome Trastevere"), ("", "", "story:a")
    entries = []

    def content():
        town = str(random.choice(towns))
        stated = claim("residence", town) if random.random() < 0.6 else None
        words = " ".join(random.choice(["bees", "hens", "tea", "rain"], random.integers(0, 4)))
        return {
            "text": f"{words} in {town}",
            "claim": stated,
            "scope": str(random.choice(scopes)),
            "valid_from": day(int(random.integers(2020, 2023))) if random.random() < 0.5 else None,
            "valid_to": None,
            "importance": float(random.random()),
        }

    for _ in range(40):
        action = random.choice(["create", "create", "batch", "edit", "tag", "undo", "delete"])
        try:
            if action == "create" or not entries:
                tier = Tier.MEMORIES if random.random() < 0.7 else Tier.EPISODES
                entries = known(entries, await space.create(Content(**content()), tier=tier))
            elif action == "batch":
                entries = known(entries, await space.create(*(Content(**content()) for _ in range(3))))
            else:
                entry = entries[random.integers(len(entries))]
                if action == "edit":
                    await space.edit(entry, **content())
                elif action == "tag":
                    await space.edit(entry, tags=(f"t{random.integers(9)}",))
                elif action == "undo":
                    await space.undo(entry)
                else:
                    await space.delete(entry)
                    entries.remove(entry)
        except ConflictError:
            pass
        await assert_consistent(space)
    for query in towns:
        found = {c.id for c in await space.search(query, scopes=("story:a",), limit=500, arms="dense")}
        rows = await space.rows(
            """SELECT id FROM entry_versions WHERE tenant_id = %(tenant)s AND space_id = %(space)s
                  AND closed_at IS NULL AND status = 'active'"""
        )
        assert {i.uuid for i in found} == {row["id"] for row in rows}
