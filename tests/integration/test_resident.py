"""Spaces in memory: they bring up what the database brings up, and hold nothing that is gone."""

import random
from dataclasses import replace

import pytest

from app.assembly.records import Memo
from app.domain.entries import Category, Tier
from app.store.resident.spaces import ResidentSpaces
from app.store.retriever import PostgresRetriever
from tests.integration.stores import day, heard

LIMIT_BYTES = 1 << 26
NONE = -9.0
WORDS = ("bees", "chess", "tea", "rain", "Rome", "apples", "trains", "violins", "rivers", "bread", "maps", "letters")
SCOPES = ("", "character:mira", "story:au1", "story:au1/scene:ball", "chat:7")
QUERIES = ("Who keeps bees in Rome?", "bread and tea", "violins", "xyzzy", "letters about the winter garden", "Řím")


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
async def resident(store):
    spaces = ResidentSpaces(store.pool, LIMIT_BYTES, Clock())
    yield spaces
    await spaces.close()


async def in_memory(resident, *spaces):
    for space in spaces:
        resident.prepare(space.key)
    await resident.loaded()
    assert all(resident.find(space.key) for space in spaces)


async def both(store, resident, plan, asked):
    """What the database brings up, and what memory brings up."""
    database = await store.retriever.retrieve(plan, heard(asked))
    memory = await PostgresRetriever(store.pool, resident).retrieve(plan, heard(asked))
    return database, memory


class Seen(dict):
    """What the arms saw of each candidate; two are equal as far as two ways of rounding agree."""

    def __eq__(self, other):
        return self.keys() == other.keys() and all(self[key] == pytest.approx(other[key], abs=5e-4) for key in self)

    __hash__ = None


def seen(retrieved):
    return Seen(
        (
            (c.is_preference, str(c.id)),
            [NONE if x is None else x for x in (c.cosine_similarity, c.bm25_score, c.coverage)],
        )
        for c in retrieved.candidates
    )


def stored(retrieved):
    """What is stored of the candidates."""
    told = (
        replace(c, cosine_similarity=None, bm25_score=None, coverage=None, memo=Memo()) for c in retrieved.candidates
    )
    return sorted(told, key=lambda c: (c.is_preference, c.id))


async def assert_same(store, resident, space, *, scopes=("character:mira", "story:au1/scene:ball"), limit=100, also=()):
    for query in QUERIES:
        for plan in (
            space.plan(query, limit=limit, scopes=scopes, also=also),
            replace(space.plan(query, limit=limit, scopes=scopes, also=also), min_relevance=0.3),
        ):
            asked = await store.ask(query)
            database, memory = await both(store, resident, plan, asked)
            assert seen(memory) == seen(database), query
            assert stored(memory) == stored(database), query
            assert set(memory.below_floor) == set(database.below_floor), query
            assert (memory.models, memory.degraded, memory.soul) == (database.models, database.degraded, database.soul)


def some_text(dice):
    return " ".join(dice.sample(WORDS, dice.randint(2, 5)))


def some_content(dice):
    content = {"text": some_text(dice), "scope": dice.choice(SCOPES)}
    if dice.random() < 0.3:
        content["valid_from"] = day(dice.choice((2020, 2095)))
    if dice.random() < 0.2:
        content["valid_to"] = day(dice.choice((2096, 2099)) if "valid_from" in content else 2021)
    if dice.random() < 0.2:
        content |= {"category": Category.OUTPUT_PREFERENCE, "importance": dice.choice((0.5, 0.8, 0.9))}
    return content


@pytest.mark.parametrize("seed", range(4))
async def test_memory_brings_up_what_the_database_brings_up_whatever_is_done_meanwhile(store, resident, seed):
    dice = random.Random(seed)
    space = store.space()
    entries = [(await space.write(**some_content(dice), tier=dice.choice(list(Tier)))).entry for _ in range(40)]
    await in_memory(resident, space)
    await assert_same(store, resident, space)
    for _ in range(6):
        for _ in range(dice.randint(1, 6)):
            deed, one = dice.choice(("write", "edit", "rescope", "delete", "undo")), dice.choice(entries)
            if deed == "write":
                entries.append((await space.write(**some_content(dice), tier=dice.choice(list(Tier)))).entry)
            elif deed == "edit":
                await space.edit(one, text=some_text(dice))
            elif deed == "rescope":
                await space.edit(one, scope=dice.choice(SCOPES))
            elif deed == "undo" and len(await space.history(one)) > 1:
                await space.undo(one)
            elif deed == "delete":
                entries.remove(one)
                await space.delete(one)
        await assert_same(store, resident, space, limit=dice.choice((3, 10, 100)))
        await resident.loaded()


async def test_a_superseded_entry_is_gone_from_memory_and_its_winner_tells(store, resident):
    space = store.space()
    await space.write("I live in Rome.")
    await in_memory(resident, space)
    await assert_same(store, resident, space)
    effect = await space.write("I live in Turin.")
    assert effect.written.superseded
    plan, asked = space.plan("Where do I live? Rome or Turin?"), await store.ask("Where do I live? Rome or Turin?")
    database, memory = await both(store, resident, plan, asked)
    assert [c.text for c in memory.candidates] == ["I live in Turin."]
    assert stored(memory) == stored(database)


async def test_a_space_that_was_never_written_to_is_searched_as_soon_as_it_is(store, resident):
    space, lore = store.space(), None
    await space.write("bees in Rome")
    lore = store.space("lore:giulia", space.caller)
    await in_memory(resident, space, lore)
    await assert_same(store, resident, space, also=[lore])
    await lore.write("The bees of Rome are golden.")
    await assert_same(store, resident, space, also=[lore])


async def test_what_was_erased_is_in_no_index_and_no_row(store, resident):
    space = store.space()
    kept, gone = await space.fill(["bees in Rome", "chess in Rome"])
    await in_memory(resident, space)
    await assert_same(store, resident, space)
    await space.delete(gone.entry)
    await assert_same(store, resident, space)  # whoever erased it, the next look finds out
    await resident.loaded()
    in_use = resident.find(space.key)
    assert in_use is None or {row.stored.id for row in in_use.rows.values()} == {kept.entry.id.uuid}


async def test_use_counts_follow(store, resident):
    space = store.space()
    effect = await space.write("bees in Rome")
    await in_memory(resident, space)
    resident.count_uses(space.caller.tenant_id, [(space.id, effect.entry.id.uuid, 7)])
    retriever = PostgresRetriever(store.pool, resident)
    retrieved = await retriever.retrieve(space.plan("bees"), heard(await store.ask("bees")))
    assert [c.uses for c in retrieved.candidates] == [7]


async def test_looking_back_and_asking_nothing_are_answered_by_the_database(store, resident):
    space = store.space()
    effect = await space.write("bees in Rome")
    await in_memory(resident, space)
    await space.edit(effect.entry, text="chess in Rome")
    asked = await store.ask("bees")
    retriever = PostgresRetriever(store.pool, resident)
    before = await retriever.retrieve(space.plan("bees", known_at=effect.entry.recorded_at), heard(asked))
    assert [c.text for c in before.candidates] == ["bees in Rome"]
    nothing = await retriever.retrieve(space.plan(""), heard(await store.ask("")))
    assert [c.text for c in nothing.candidates] == ["chess in Rome"]


async def test_without_a_vector_memory_still_has_the_words(store, resident):
    space = store.space()
    await space.fill(["bees in Rome", "chess at home"])
    await in_memory(resident, space)
    asked = await store.ask("")
    database, memory = await both(store, resident, space.plan("bees"), asked)
    assert seen(memory) == seen(database)
    assert memory.degraded == ("dense",)


async def test_memory_is_bounded_and_what_nobody_asks_for_is_given_up(store):
    clock = Clock()
    one, other = store.space("user:one"), store.space("user:other")
    for space in (one, other):
        await space.fill([f"{word} in Rome" for word in WORDS])
    whole = ResidentSpaces(store.pool, LIMIT_BYTES, clock)
    await in_memory(whole, one, other)
    size = whole.find(one.key).size_bytes
    clock.now += 1e6
    assert whole.find(one.key) is None
    small = ResidentSpaces(store.pool, int(size * 1.5), clock)
    for space in (one, other):
        small.prepare(space.key)
        await small.loaded()
    assert (small.find(one.key) is None, small.find(other.key) is None) == (True, False)
    none = ResidentSpaces(store.pool, 0, clock)
    assert none.find(one.key) is None
    assert none.find(one.key) is None
    await none.loaded()
    for spaces in (whole, small, none):
        await spaces.close()


async def test_two_tenants_with_one_name_of_a_space_never_meet(store, resident):
    ana, eve = store.space("user:ana"), store.space("user:ana")
    await ana.write("bees in Rome")
    await eve.write("chess in Rome")
    await in_memory(resident, ana, eve)
    retriever = PostgresRetriever(store.pool, resident)
    for space, text in ((ana, "bees in Rome"), (eve, "chess in Rome")):
        retrieved = await retriever.retrieve(space.plan("Rome"), heard(await store.ask("Rome")))
        assert [c.text for c in retrieved.candidates] == [text]


async def test_however_few_entries_are_kept_in_memory_none_is_left_out_of_a_prompt(store, resident, monkeypatch):
    monkeypatch.setattr("app.store.resident.spaces.ROWS", 5)
    space = store.space()
    await space.fill([f"{one} and {other} in Rome" for one in WORDS for other in WORDS[:3] if one != other])
    await in_memory(resident, space)
    for limit in (3, 2, 4, 100):
        await assert_same(store, resident, space, limit=limit)
        assert len(resident.find(space.key).rows) <= 5


async def test_an_entry_names_nothing_that_was_erased_elsewhere(store, resident):
    """Another process erases: only the state of the space tells."""
    space = store.space()
    lost = (await space.write("I live in Rome.")).entry
    await space.write("I live in Turin.")
    await in_memory(resident, space)
    await assert_same(store, resident, space)
    await space.delete(lost)  # the store of this test tells `resident` nothing
    plan, asked = space.plan("Where do I live? Turin?"), await store.ask("Where do I live? Turin?")
    database, memory = await both(store, resident, plan, asked)
    assert [c.superseded for c in memory.candidates] == [c.superseded for c in database.candidates] == [()]
