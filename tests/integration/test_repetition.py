"""What is said again reinforces the memory that says it already: dup-01, dup-04, dup-05 of the public reports."""

import asyncio

import pytest

from app.domain.entries import Author, Cardinality, Category, Claim, Content, Status, Tier
from tests.integration.consistency import assert_consistent
from tests.integration.stores import claim, day

SAID = "Ana keeps bees on the roof."


async def active(space):
    return await space.rows(
        """SELECT * FROM entry_versions WHERE tenant_id = %(tenant)s AND space_id = %(space)s
              AND closed_at IS NULL AND status = 'active'"""
    )


@pytest.mark.parametrize("again", [SAID, "ana keeps  bees on the roof", "«Ana keeps bees on the roof»"])
async def test_the_same_text_confirms_the_memory_and_makes_it_surer(space, again):
    first = await space.write(SAID, confidence=0.6, importance=0.3, tags=("bees",), source="m1")
    second = await space.write(again, confidence=1.0, importance=0.7, tags=("roof",), source="m2", session="s2")
    entry = second.entry
    assert (entry.id, entry.version, entry.text_version) == (first.entry.id, 2, 1)
    assert (first.written.reinforced, second.written.reinforced, entry.reason) == (False, True, "reinforced")
    assert entry.last_confirmed_at > first.entry.last_confirmed_at
    assert entry.content.text == SAID
    assert entry.content.confidence == pytest.approx(0.7)
    assert (entry.content.importance, entry.content.tags) == (0.7, ("bees", "roof"))
    assert [version.content.source for version in await space.history(entry)] == ["m2", "m1"]
    await assert_consistent(space)


async def test_every_path_goes_through_the_same_gate(space):
    """dup-01: single, batch, twice in a batch, with and without a key."""
    (first,) = await space.create(Content(text=SAID))
    batch = await space.create(Content(text=SAID), Content(text="Something else."), Content(text=SAID))
    assert [effect.written.reinforced for effect in batch] == [True, False, True]
    assert {batch[0].entry.id, batch[2].entry.id} == {first.entry.id}
    assert batch[2].entry.version == 3
    twice = await space.create(Content(text="New and twice."), Content(text="new and twice"))
    assert twice[0].entry.id == twice[1].entry.id
    assert len(await active(space)) == 3
    await assert_consistent(space)


@pytest.mark.parametrize(
    "changed",
    [
        {"scope": "story:a"},
        {"author": Author("Ben")},
        {"valid_from": day(2024)},
        {"valid_to": day(2030)},
        {"category": Category.GOAL},
        {"context": "while she was drunk"},
        {"claim": claim("hobby", "bees")},
    ],
)
async def test_another_scope_author_validity_category_context_or_claim_is_another_memory(space, changed):
    first = await space.write(SAID, category=Category.INTEREST, author=Author("Ana"))
    second = await space.write(SAID, **{"category": Category.INTEREST, "author": Author("Ana"), **changed})
    assert second.entry.id != first.entry.id
    assert not second.written.reinforced


async def test_another_space_is_another_memory(store):
    caller = store.tenant()
    first = await store.space("user:ana", caller).write(SAID)
    second = await store.space("user:ben", caller).write(SAID)
    assert first.entry.id != second.entry.id
    assert not second.written.reinforced


async def test_episodes_and_procedures_happen_again(space):
    for tier in (Tier.EPISODES, Tier.PROCEDURES):
        for _ in range(2):
            assert not (await space.write(SAID, tier)).written.reinforced
    assert len(await active(space)) == 4


@pytest.mark.parametrize(
    ("known", "again", "reinforces"),
    [
        ("I live in Rome.", "I reside in Rome.", True),
        ("I live in Rome with my cat Momo.", "I live in Rome.", True),
        ("I live in Rome.", "I live in Rome with my cat Momo.", False),
        ("I have two children.", "We have 2 kids.", True),
        ("I work as an engineer.", "I work as an engineer at a bank.", False),
        ("I like tea.", "I like coffee.", False),
        ("I speak German.", "I speak German and Polish.", False),
        ("I live in Rome.", "I lived in Rome.", False),
    ],
)
async def test_the_same_claim_in_words_that_add_nothing_is_a_repetition(space, known, again, reinforces):
    first = await space.write(known)
    second = await space.write(again)
    assert (second.entry.id == first.entry.id) == second.written.reinforced == reinforces
    if reinforces:
        assert second.entry.content.text == known


async def test_claims_of_many_values_repeat_only_the_same_value(space):
    many = {"subject": "self", "attribute": "pet", "cardinality": Cardinality.MANY}
    await space.write("Has a cat.", claim=Claim(value="Momo", **many))
    assert not (await space.write("Has a cat.", claim=Claim(value="Luna", **many))).written.reinforced


async def test_what_was_superseded_or_erased_is_not_reinforced_but_said_anew(space):
    rome = await space.write("I live in Rome.")
    turin = await space.write("I live in Turin.")
    back = await space.write("I live in Rome.")
    assert back.entry.id not in (rome.entry.id, turin.entry.id)
    assert back.written.superseded == (turin.entry.id,)
    await space.delete(back.entry)
    assert not (await space.write("I live in Rome.")).written.reinforced
    await assert_consistent(space)


async def test_an_older_moment_rolls_nothing_back(space):
    now = await space.write("I live in Turin.", valid_from=day(2025))
    before = await space.write("I live in Turin.", valid_from=day(2020))
    assert before.entry.id != now.entry.id
    assert (await space.get(now.entry.id)).content.valid_from == day(2025)
    assert (await space.get(now.entry.id)).last_confirmed_at >= now.entry.last_confirmed_at


async def test_saying_one_side_of_an_open_conflict_again_leaves_it_open(space):
    since = day(2024)
    rome = await space.write("I live in Rome.", valid_from=since)
    milan = await space.write("I live in Milan.", valid_from=since)
    assert milan.written.unresolved_with == (rome.entry.id,)
    again = await space.write("I live in Milan.", valid_from=since)
    assert again.written.reinforced
    assert again.entry.id == milan.entry.id
    assert again.entry.unresolved
    assert (await space.get(rome.entry.id)).unresolved
    await assert_consistent(space)


async def test_a_repetition_can_be_undone(space):
    first = await space.write(SAID, confidence=0.6)
    second = await space.write(SAID)
    undone = await space.undo(second.entry)
    assert (undone.entry.content.confidence, undone.entry.last_confirmed_at) == (0.6, first.entry.last_confirmed_at)


async def test_confidence_never_exceeds_one(space):
    for _ in range(12):
        effect = await space.write(SAID, confidence=1.0)
    assert effect.entry.content.confidence <= 1


async def test_twenty_writes_at_once_make_one_memory(space):
    """dup-04."""
    effects = await asyncio.gather(*(space.write(SAID) for _ in range(20)))
    assert len({effect.entry.id for effect in effects}) == 1
    assert sum(not effect.written.reinforced for effect in effects) == 1
    assert [row["version"] for row in await active(space)] == [20]
    await assert_consistent(space)


async def test_two_updates_at_once_leave_one_current_value(space):
    """dup-05."""
    await space.write("I live in Rome.")
    effects = await asyncio.gather(space.write("I live in Oslo."), space.write("I live in Turin."))
    standing = [(await space.get(effect.entry.id)).status for effect in effects]
    assert sorted(standing) == [Status.ACTIVE, Status.SUPERSEDED]
    assert len(await active(space)) == 1
