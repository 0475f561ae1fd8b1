"""What a request may see: scopes, times, and looking back at what was true or known then."""

from dataclasses import replace
from datetime import timedelta

import pytest

from app.assembly.records import AssemblyRequest
from app.assembly.screen import screen
from app.contradictions.detect import SimilarityBand
from app.domain.callers import Caller
from app.domain.entries import Category, Status, Tier
from app.entries.decide import next_version
from app.entries.ports import VersionWrite
from tests.integration.stores import LATER, claim, day, heard

MOMENT = timedelta(microseconds=1)


async def served(space, query, **request):
    """The texts that search brings up and a prompt may hold."""
    candidates = await space.search(query, **request)
    limits = {key: value for key, value in request.items() if key not in ("limit", "arms", "also")}
    looks_back = not limits.keys().isdisjoint({"as_of", "known_at"})
    asked = AssemblyRequest(
        space=space.key, persona=space.key, query=query, looks_back=looks_back, **{"as_of": LATER, **limits}
    )
    return sorted(c.text for c in screen(candidates, asked, SimilarityBand(0.99, 0.99)).kept)


async def withdraw(space, entry, status=Status.RETRACTED):
    """Write the version that takes an entry out of service."""
    async with space.store.entries.store.unit(space.key) as unit:
        current = await unit.current(entry.id)
        version = next_version(current, unit.advance(), reason=status.value)
        await unit.write([VersionWrite(replace(version, status=status))])
    return version


async def test_a_scope_sees_itself_and_its_prefixes_and_no_sibling(space):
    scopes = ("", "story:a", "story:a/scene:ball", "story:a/scene:duel", "story:b", "story:ab", "character:mira")
    for scope in scopes:
        await space.write(f"The bees live in {scope or 'everywhere'}.", scope=scope)

    async def seen(*asked):
        texts = await served(space, "bees", scopes=asked)
        return {text.removeprefix("The bees live in ").removesuffix(".") for text in texts}

    assert await seen() == {"everywhere"}
    assert await seen("story:a") == {"everywhere", "story:a"}
    assert await seen("story:a/scene:ball") == {"everywhere", "story:a", "story:a/scene:ball"}
    assert await seen("story:a/scene:ball", "character:mira") == {
        "everywhere", "story:a", "story:a/scene:ball", "character:mira",
    }  # fmt: skip
    assert await seen("scene:ball") == {"everywhere"}


@pytest.mark.parametrize("arms", ["dense", "lexical", "both"])
@pytest.mark.parametrize(
    "hidden",
    [
        {"scope": "story:b"},
        {"valid_to": day(2000)},
        {"valid_from": LATER + MOMENT},
        {"occurred_at": LATER + MOMENT},
    ],
    ids=["another scope", "no longer true", "not true yet", "has not happened yet"],
)
async def test_what_is_hidden_pushes_nothing_visible_out(space, arms, hidden):
    await space.fill(["bees bees bees"] * 30, **hidden)
    wanted = {f"One of the bees is called {name}, who likes long walks." for name in ("Ada", "Bea", "Cleo", "Dora")}
    await space.fill(sorted(wanted))
    assert set(await space.texts("bees bees bees", arms=arms, limit=4)) == wanted


@pytest.mark.parametrize("arms", ["dense", "lexical", "both"])
async def test_looking_back_what_was_not_true_then_pushes_nothing_out(space, arms):
    for number in range(12):
        entry = (await space.write(f"bees bees {number}", valid_from=day(2020))).entry
        await space.edit(entry, text=f"bees bees bees {number}", valid_from=day(2023))
    await space.fill(["bees bees"] * 12, valid_to=day(2010))
    wanted = {f"One of the bees is called {name}, who likes long walks." for name in ("Ada", "Bea", "Cleo")}
    await space.fill(sorted(wanted), valid_from=day(2015), valid_to=day(2022))
    assert set(await space.texts("bees bees bees", arms=arms, limit=3, as_of=day(2021))) == wanted


async def test_looking_back_what_was_not_known_then_pushes_nothing_out(space):
    wanted = {f"One of the bees is called {name}, who likes long walks." for name in ("Ada", "Bea", "Cleo")}
    known = (await space.fill(sorted(wanted)))[0].entry.recorded_at
    moment = timedelta(milliseconds=1)
    while (await space.store.sql("SELECT clock_timestamp() AS now"))[0]["now"] < known + 2 * moment:
        pass
    await space.fill(["bees bees bees"] * 30)
    assert set(await space.texts("bees bees bees", limit=3, known_at=known + moment)) == wanted


async def test_validity_starts_with_valid_from_and_ends_before_valid_to(space):
    await space.write("Ana keeps bees.", valid_from=day(2020), valid_to=day(2021))
    assert await served(space, "bees", as_of=day(2020) - MOMENT) == []
    assert await served(space, "bees", as_of=day(2020)) == ["Ana keeps bees."]
    assert await served(space, "bees", as_of=day(2021) - MOMENT) == ["Ana keeps bees."]
    assert await served(space, "bees", as_of=day(2021)) == []
    assert await served(space, "bees") == []


async def test_an_entry_without_dates_holds_since_it_was_learnt(space):
    entry = (await space.write("Ana keeps bees.")).entry
    assert await served(space, "bees", as_of=entry.recorded_at) == ["Ana keeps bees."]
    assert await served(space, "bees", as_of=entry.recorded_at - MOMENT) == []


async def test_before_a_supersession_the_old_value_held_and_the_new_one_did_not(space):
    """Public report contra-10: past state can be asked for."""
    await space.write("Ana lives in Rome.", claim=claim("residence", "Rome"), valid_from=day(2020))
    await space.write("Ana lives in Milan.", claim=claim("residence", "Milan"), valid_from=day(2023))
    assert await served(space, "Where does Ana live?") == ["Ana lives in Milan."]
    assert await served(space, "Where does Ana live?", as_of=day(2021)) == ["Ana lives in Rome."]
    assert await served(space, "Where does Ana live?", as_of=day(2024)) == ["Ana lives in Milan."]
    assert await served(space, "Where does Ana live?", as_of=day(2019)) == []


async def test_a_name_that_was_replaced_is_found_by_looking_back(space):
    """Public report contra-02: two names of one person, one letter apart; only the newer is served."""
    old = (await space.write("My name is Alise.")).entry
    new = await space.write("My name is Alice.")
    assert new.written.superseded == (old.id,)
    assert await served(space, "What is my name?") == ["My name is Alice."]
    assert await served(space, "What is my name?", as_of=old.recorded_at) == ["My name is Alise."]
    assert [e.status for e in await space.history(old)] == [Status.SUPERSEDED, Status.ACTIVE]


async def test_known_at_returns_the_versions_that_were_known_then(space):
    first = (await space.write("Ana keeps bees.")).entry
    second = (await space.edit(first, text="Ana keeps bees and hens.")).entry
    third = (await space.edit(second, text="Ana keeps hens.")).entry
    times = {
        first.recorded_at - MOMENT: [],
        first.recorded_at: ["Ana keeps bees."],
        second.recorded_at - MOMENT: ["Ana keeps bees."],
        second.recorded_at: ["Ana keeps bees and hens."],
        third.recorded_at - MOMENT: ["Ana keeps bees and hens."],
        third.recorded_at: ["Ana keeps hens."],
    }
    for moment, texts in times.items():
        assert (moment, await served(space, "bees hens", known_at=moment)) == (moment, texts)
    assert await served(space, "bees hens", as_of=LATER) == ["Ana keeps hens."]


async def test_known_at_before_a_supersession_knows_the_old_value_as_current(space):
    old = (await space.write("Ana lives in Rome.", claim=claim("residence", "Rome"))).entry
    new = (await space.write("Ana lives in Milan.", claim=claim("residence", "Milan"))).entry
    assert await served(space, "Ana lives", known_at=old.recorded_at) == ["Ana lives in Rome."]
    assert await served(space, "Ana lives", known_at=new.recorded_at) == ["Ana lives in Milan."]


async def test_known_at_returns_the_preferences_that_were_known_then(space):
    rule = {"category": Category.OUTPUT_PREFERENCE, "importance": 0.9}
    first = (await space.write("Answer briefly.", **rule)).entry
    second = (await space.edit(first, text="Answer at length.")).entry
    for moment, text in ((first.recorded_at, "Answer briefly."), (second.recorded_at, "Answer at length.")):
        found = await space.search("", known_at=moment)
        assert [c.text for c in found if c.is_preference] == [text]


@pytest.mark.parametrize("erased", [False, True], ids=["retracted", "erased"])
async def test_what_was_withdrawn_is_never_found_again_however_far_one_looks_back(space, erased):
    rule = {"category": Category.OUTPUT_PREFERENCE, "importance": 0.9}
    entry = (await space.write("Ana keeps bees.", **rule)).entry
    if erased:
        await space.delete(entry)
    else:
        await withdraw(space, entry)
    for request in ({}, {"as_of": LATER}, {"as_of": entry.recorded_at}, {"known_at": entry.recorded_at}):
        assert await space.search("Ana keeps bees.", **request) == ()


async def test_an_archived_entry_is_not_served_and_was_known(space):
    entry = (await space.write("Ana keeps bees.")).entry
    await withdraw(space, entry, Status.ARCHIVED)
    assert await space.texts("bees") == []
    assert await space.texts("bees", as_of=LATER) == []
    assert await space.texts("bees", known_at=entry.recorded_at) == ["Ana keeps bees."]


async def test_a_tenant_never_sees_another_tenants_space_of_the_same_name(store):
    """Public report leak-02: the owner decides before any other filter; names need not be unique."""
    mine, theirs = store.space("user:1"), store.space("user:1")
    await mine.write("Ana keeps bees.", session="s1")
    await theirs.write("Ben keeps hens.", session="s1")
    assert await mine.texts("keeps") == ["Ana keeps bees."]
    assert await theirs.texts("keeps") == ["Ben keeps hens."]
    assert mine.id != theirs.id


async def test_another_tenants_address_of_a_space_finds_nothing(store):
    """Public report leak-02, by force: a plan that names the other tenant's space under the own tenant."""
    theirs = store.space("user:1")
    await theirs.write("Ben keeps hens.")
    mine = store.space("user:1")

    class Stolen:
        tenant_id, name, space_id = mine.caller.tenant_id, "user:1", theirs.id

    stolen = replace(mine.plan("hens"), spaces=(Stolen, theirs.key))
    found = await store.retriever.retrieve(stolen, heard(await store.ask("hens")))
    assert found.candidates == ()


@pytest.mark.parametrize(
    "name", ["user:ana", "viewer:twitch:42", "stream:main", "character:mira", "lore:giulia", "agent:giulia"]
)
async def test_what_was_written_to_a_space_is_read_from_it(store, name):
    """Public report leak-05: written to one place and read from another, without an error."""
    space = store.space(name)
    texts = {tier: [f"{tier} {n} about bees" for n in range(3)] for tier in Tier}
    effects = {tier: await space.fill(texts[tier], tier=tier) for tier in Tier}
    assert sorted(await space.texts("bees")) == sorted(text for each in texts.values() for text in each)
    for tier in Tier:
        for effect in effects[tier]:
            assert (await space.get(effect.entry.id)).content == effect.entry.content
    other = store.space("user:somebody", Caller(space.caller.tenant_id, space.caller.role))
    assert await other.texts("bees") == []
