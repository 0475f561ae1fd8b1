"""A space that is exported and imported is the same; what was forgotten stays away."""

import orjson
import pytest

from app.domain.entries import Category
from app.forgetting.records import Selector
from app.forgetting.service import ForgettingService
from app.runtime import new_id, new_uuid
from app.store.archives import PostgresArchives
from app.store.forgetting import PostgresForgetting, Reached
from app.store.queue import Queue
from app.store.transfer import PostgresTransfer, TransferError, space_of
from app.store.turns import PostgresTurns
from app.store.working import PostgresWorkingMemory
from tests.integration.consistency import assert_consistent
from tests.integration.stores import Space, day

VERSIONS = """SELECT id, version, text_version, sequence, tier, status, text, category, tags, scope, claim_subject,
                     claim_value, valid_from, valid_to, author_name, recorded_at, first_recorded_at, last_confirmed_at,
                     unresolved, superseded_by, reason, corrected, closed_at
                FROM entry_versions WHERE tenant_id = %(tenant)s AND space_id = %(space)s ORDER BY id, version"""


async def exported(space) -> list[bytes]:
    return [line async for line in PostgresTransfer(space.store.pool).export(space.key)]


async def brought(space, lines):
    return await PostgresTransfer(space.store.pool).bring(space.key, lines, space.store.models, [].append)


def forgetting(store) -> ForgettingService:
    turns = PostgresTurns(store.pool, Queue("", lambda: 0.5), new_uuid)
    kept = PostgresForgetting(store.pool, Reached(turns, PostgresArchives(store.pool, None), store.models, [].append))
    return ForgettingService(kept, PostgresWorkingMemory(turns, 60), new_id)


@pytest.fixture
async def lived_in(space) -> Space:
    """A space in which things changed."""
    await space.write("I live in Rome.", valid_from=day(2020))
    await space.write("I live in Turin.", valid_from=day(2024))
    likes = await space.write("I like tea.", category=Category.PERSONAL_PREFERENCE, importance=0.9)
    await space.edit(likes.entry, text="I like green tea.")
    await space.write("Mira's eyes are blue.", scope="character:mira")
    await space.write("Mira's eyes are green.", scope="story:au1")
    gone = await space.write("I keep bees.")
    await space.edit(gone.entry, tags=("x",))
    await space.undo(gone.entry)
    return space


async def test_an_import_gives_the_same_store(store, lived_in):
    other = Space(store, store.tenant(), lived_in.name)
    lines = await exported(lived_in)
    done = await brought(other, lines)
    assert (done.forgotten, done.known) == (0, 0)
    assert await other.rows(VERSIONS) == await lived_in.rows(VERSIONS)
    assert [orjson.loads(line) for line in (await exported(other))[1:]] == [orjson.loads(line) for line in lines[1:]]
    assert await other.texts("Where do I live?") == await lived_in.texts("Where do I live?")
    await assert_consistent(other)


async def test_importing_twice_changes_nothing(store, lived_in):
    before = await lived_in.rows(VERSIONS)
    done = await brought(lived_in, await exported(lived_in))
    assert done.known == len({row["id"] for row in before})
    assert await lived_in.rows(VERSIONS) == before


async def test_what_was_forgotten_is_not_imported(store, lived_in):
    """del-05: the backup still has it."""
    lines = await exported(lived_in)
    await forgetting(store).forget(lived_in.caller, lived_in.name, Selector(content="I keep bees."))
    done = await brought(lived_in, lines)
    assert done.forgotten == 1
    assert "I keep bees." not in await lived_in.texts("bees")


async def test_a_space_that_was_erased_is_not_imported(store, lived_in):
    lines = await exported(lived_in)
    await forgetting(store).forget_space(lived_in.caller, lived_in.name)
    await brought(lived_in, lines)
    assert await lived_in.rows(VERSIONS) == []


async def test_what_was_said_again_after_it_was_forgotten_travels(store, space):
    first = await space.write("I keep bees.")
    await space.delete(first.entry)
    again = await space.write("I keep bees.")
    lines = await exported(space)
    await space.rows("DELETE FROM entry_versions WHERE tenant_id = %(tenant)s AND space_id = %(space)s")
    await space.rows("DELETE FROM entry_vectors WHERE tenant_id = %(tenant)s AND space_id = %(space)s")
    await space.rows("DELETE FROM entry_postings WHERE tenant_id = %(tenant)s AND space_id = %(space)s")
    await brought(space, lines)
    assert [row["id"] for row in await space.rows(VERSIONS)] == [again.entry.id.uuid]


@pytest.mark.parametrize(
    "lines",
    [[], [b"x"], [b"[]"], [b'{"ricordo": 2, "space": "user:a"}'], [b'{"ricordo": 1, "space": "x"}']],
)
def test_what_is_no_export_is_refused(lines):
    with pytest.raises(TransferError):
        space_of(lines)


@pytest.mark.parametrize("line", [b"x", b"{}", b'{"table": "entry_versions", "row": {"id": "x", "text": "y"}}'])
async def test_a_line_that_cannot_be_read_is_named(space, line):
    with pytest.raises(TransferError):
        await brought(space, [b'{"ricordo": 1, "space": "user:a"}', line])
    assert await space.rows(VERSIONS) == []
