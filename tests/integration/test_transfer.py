"""A space that is exported and imported is the same; what was forgotten stays away."""

import orjson
import pytest

from app.domain.entries import Category
from app.domain.ids import PublicId
from app.forgetting.records import Selector
from app.forgetting.service import ForgettingService
from app.runtime import new_id, new_uuid
from app.store.archives import PostgresArchives
from app.store.exported import TransferError, lines_of, space_of, survey
from app.store.forgetting import PostgresForgetting, Reached
from app.store.queue import Queue
from app.store.transfer import PostgresTransfer
from app.store.turns import PostgresTurns
from app.store.working import PostgresWorkingMemory
from tests.integration.consistency import assert_consistent
from tests.integration.stores import Space, day

OF = "WHERE tenant_id = %(tenant)s AND space_id = %(space)s"
VERSIONS = """SELECT id, version, text_version, sequence, tier, status, text, category, tags, scope, claim_subject,
                     claim_value, valid_from, valid_to, author_name, recorded_at, first_recorded_at, last_confirmed_at,
                     unresolved, superseded_by, reason, corrected, closed_at
                FROM entry_versions WHERE tenant_id = %(tenant)s AND space_id = %(space)s ORDER BY id, version"""


async def exported(space) -> list[bytes]:
    return [line async for line in PostgresTransfer(space.store.pool).export(space.key)]


async def brought(space, lines, told=None):
    """Import lines; what was bad is put into `told`, by line."""

    def report(number, why):
        (told if told is not None else {})[number] = why

    return await PostgresTransfer(space.store.pool).bring(
        space.key, lambda: lines, space.store.models, report, lambda _: None
    )


def line_of(table="entry_versions", **row):
    return orjson.dumps({"table": table, "row": row})


def changed(line, **changes):
    """A line with other values; an empty one takes a field away."""
    read = orjson.loads(line)
    return orjson.dumps({**read, "row": {**read["row"], **changes}})


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
    assert done.known >= len({row["id"] for row in before})
    assert sum(done.rows.values()) == 0
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
        space_of(lambda: lines)


HEADER = b'{"ricordo": 1, "space": "user:a"}'


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"x", "not JSON"),
        (b'{"table": "entry_versions", "row": {"id": "\\ud800"}}', "not JSON"),
        (b"{}", "no table and row"),
        (b"[1]", "no table and row"),
        (line_of(id="x", text="y"), "id: "),
        (line_of("secrets", id="x"), "no table secrets"),
        (line_of("api_keys", id="x"), "no table api_keys"),
        (line_of("jobs", id="x"), "no table jobs"),
        (line_of("soul_blocks", id="x"), "the database refuses it (22P02"),
        (line_of("soul_blocks", name="a\0b"), "must not contain NUL"),
        (line_of("soul_blocks", text="a"), "the database refuses it (23502, id)"),
    ],
)
async def test_a_line_that_cannot_be_read_is_named_and_the_rest_comes(space, line, why):
    fine = line_of("entry_uses", id=str(new_uuid()))
    block = line_of(
        "soul_blocks", id=str(new_uuid()), version=1, name="tone", text="Be dry.", position=0, active=True,
        recorded_at="2026-01-01T00:00:00Z", reason="created",
    )  # fmt: skip
    told = {}
    done = await brought(space, [HEADER, fine, line, b"", block], told)
    assert (list(told), why in told.get(3, "")) == ([3], True), told
    assert (done.bad, done.rows["soul_blocks"]) == (1, 1)
    assert [row["text"] for row in await space.rows(f"SELECT text FROM soul_blocks {OF}")] == ["Be dry."]


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"text": ""}, "text: "),
        ({"text": "a\0b"}, "NUL"),
        ({"text": 5}, "text: "),
        ({"tags": "bees"}, "tags: "),
        ({"scope": "nowhere"}, "scope: "),
        ({"status": "gone"}, "status: "),
        ({"importance": 7}, "importance"),
        ({"recorded_at": "2026-01-01T00:00:00"}, "recorded_at: "),
        ({"recorded_at": "soon"}, "recorded_at: "),
        ({"sequence": 2**63 - 1}, "sequence: "),
        ({"version": 3}, "does not follow"),
        ({"text_version": 9}, "does not follow"),
        ({"claim_subject": "self", "claim_attribute": None}, "claim"),
    ],
)
async def test_a_version_that_makes_no_sense_leaves_its_entry_out_and_no_other(store, space, changes, why):
    """An earlier version is not what holds."""
    bees = await space.write("I keep bees.")
    await space.edit(bees.entry, text="I keep goats.")
    await space.write("I row.")
    lines = await exported(space)
    lines[2] = changed(lines[2], **changes)
    other = Space(store, store.tenant(), space.name)
    told = {}
    done = await brought(other, lines, told)
    assert sorted(told) == [2, 3]
    assert (why in told[3], told[2]) == (True, "another version of this entry is bad or missing"), told
    assert done.bad == 2
    assert [row["text"] for row in await other.rows(VERSIONS)] == ["I row."]
    await assert_consistent(other)


@pytest.mark.parametrize("broken", [lambda lines: lines[:4], lambda lines: [*lines[:4], lines[4][:50], *lines[5:]]])
async def test_a_version_that_is_lost_may_be_what_holds(store, lived_in, broken):
    lines = await exported(lived_in)
    other = Space(store, store.tenant(), lived_in.name)
    with pytest.raises(TransferError, match="of 10 versions are in the file"):
        await brought(other, broken(lines))
    assert await other.rows(VERSIONS) == []


async def test_a_file_is_looked_over_without_a_store(tmp_path, lived_in):
    lines = await exported(lived_in)
    path = tmp_path / "space.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + b"".join([*lines, b"{\n"]))
    told = {}
    found = survey(lambda: lines_of(path), lived_in.key, told.__setitem__)
    assert list(told) == [len(lines) + 1]
    assert found.rows["entry_versions"] == len(await lived_in.rows(VERSIONS))
    assert space_of(lambda: lines_of(path)) == lived_in.name


async def test_a_line_without_an_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("app.store.exported._LINE_BYTES", 100)
    path = tmp_path / "space.jsonl"
    path.write_bytes(HEADER + b"\n" + b"x" * 1_000)
    with pytest.raises(TransferError, match="line 2 has more than"):
        list(lines_of(path))


@pytest.mark.parametrize("portions", [1, 2, 3])
async def test_an_import_that_broke_off_goes_on_where_it_was(store, lived_in, monkeypatch, portions):
    monkeypatch.setattr("app.store.bringing._AT_ONCE", 3)
    lines = await exported(lived_in)
    other = Space(store, store.tenant(), lived_in.name)

    class StoppedError(Exception):
        pass

    seen = []

    def stop(done):
        seen.append(done.read)
        if len(seen) == portions:
            raise StoppedError

    with pytest.raises(StoppedError):
        await PostgresTransfer(store.pool).bring(other.key, lambda: lines, store.models, print, stop)
    assert 0 < len(await other.rows(VERSIONS)) < len(await lived_in.rows(VERSIONS))
    await brought(other, lines)
    assert await other.rows(VERSIONS) == await lived_in.rows(VERSIONS)
    await assert_consistent(other)


async def test_a_later_export_brings_what_is_new_in_it(store, space):
    bees = await space.write("I keep bees.")
    lines = await exported(space)
    other = Space(store, store.tenant(), space.name)
    await brought(other, lines)
    await space.edit(bees.entry, text="I keep goats.")
    await space.write("I row.")
    done = await brought(other, await exported(space))
    assert (done.rows["entry_versions"], done.known) == (2, 0)
    assert await other.rows(VERSIONS) == await space.rows(VERSIONS)


async def test_what_was_changed_here_stays_as_it_is(store, space):
    bees = await space.write("I keep bees.")
    other = Space(store, store.tenant(), space.name)
    await brought(other, await exported(space))
    (there,) = await other.rows(VERSIONS)
    here = await other.get(PublicId(there["id"], other.id, bees.entry.id.kind))
    await other.edit(here, text="I keep one hive.")
    before = await other.rows(VERSIONS)
    await space.edit(bees.entry, text="I keep goats.")
    assert (await brought(other, await exported(space))).known == 1
    assert await other.rows(VERSIONS) == before


async def test_a_space_that_came_to_one_with_a_history_can_be_exported_again(store, lived_in):
    """What happened after one another does so in the other space too."""
    other = Space(store, store.tenant(), lived_in.name)
    for number in range(40):
        await other.write(f"I own the book number {number}.")
    await brought(other, await exported(lived_in))
    await assert_consistent(other)
    third = Space(store, store.tenant(), lived_in.name)
    await brought(third, await exported(other))
    await assert_consistent(third)
    assert await third.rows(VERSIONS) == await other.rows(VERSIONS)
