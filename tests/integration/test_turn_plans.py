"""How Postgres reads what was said: by its keys, as the serving role, beside many other turns."""

import json
from datetime import UTC, datetime
from uuid import uuid4

import psycopg
import pytest

from app.domain.ids import IdKind, PublicId
from app.domain.spaces import SpaceKey
from app.runtime import new_uuid
from app.store.archives import PostgresArchives
from app.store.entries import PostgresEntries
from app.store.forgetting import PostgresForgetting, Reached
from app.store.pool import create_pool
from app.store.queue import Queue
from app.store.turns import PostgresTurns
from app.turns.ports import JobQuery, MessageQuery, SessionQuery
from app.turns.records import session_uuid
from tests.integration.stores import create_database, open_store
from tests.integration.test_plans import EXPLAIN, kinds, nodes, reads
from tests.integration.test_queue import new_turn

SEED = """
INSERT INTO spaces (tenant_id, id, name, created_at)
VALUES (%(tenant)s, %(space)s, 'user:ana', now()), (%(tenant)s, %(other)s, 'user:ben', now());
CREATE TEMP TABLE seeded AS
SELECT %(tenant)s::uuid AS tenant_id, CASE WHEN n <= 2000 THEN %(space)s::uuid ELSE %(other)s::uuid END AS space_id,
       uuidv7() AS id, n, CASE WHEN n %% 10 = 0 THEN %(session)s::uuid ELSE gen_random_uuid() END AS session
  FROM generate_series(1, 6000) AS n;
INSERT INTO sessions (tenant_id, space_id, id, started_at, last_at, created_at)
SELECT DISTINCT ON (space_id, session) tenant_id, space_id, session, now(), now(), now() FROM seeded;
INSERT INTO turns (
    tenant_id, space_id, id, session, conversation, given_id, fingerprint, said_at, recorded_at, revision)
SELECT tenant_id, space_id, id, session, id, 't-' || n, '', now() + n * interval '1 s', now(), 1 FROM seeded;
INSERT INTO messages (
    tenant_id, space_id, id, turn, session, position, platform, given_id, role, text, said_at, recorded_at, mentions,
    media, version, terms)
SELECT tenant_id, space_id, id, id, session, 0, '', 'm-' || n, 'user', 'word ' || n, now() + n * interval '1 s', now(),
       '{}', '[]', 1, ARRAY[1, n]::bigint[]
  FROM seeded;
INSERT INTO message_postings (tenant_id, space_id, term, id, tf, length)
SELECT tenant_id, space_id, unnest(ARRAY[1, n + 1]::bigint[]), id, 1, 2 FROM seeded;
INSERT INTO memory_evidence (tenant_id, space_id, turn, message, key, version, entry, said_at, content)
SELECT tenant_id, space_id, id, id, 'x', 1, id, now(), '{"text": "I sail"}' FROM seeded;
INSERT INTO derived_entries (tenant_id, space_id, id, made_at) SELECT tenant_id, space_id, id, now() FROM seeded;
INSERT INTO jobs (tenant_id, space_id, id, task, subject, erase, state, attempts, created_at)
SELECT tenant_id, space_id, uuidv7(), 'memories', id, FALSE, 'succeeded', 1, now() FROM seeded;
"""


@pytest.fixture(scope="module")
async def plans_of(database_url):
    """Runs an action on a warm connection and returns the plans of its statements by their first table."""
    async with open_store(create_database(database_url, "turn-plans")) as store:
        space = SpaceKey(uuid4(), "user:ana")
        other = SpaceKey(space.tenant_id, "user:ben")
        named = {"tenant": space.tenant_id, "space": space.space_id, "other": other.space_id}
        async with await psycopg.AsyncConnection.connect(
            store.url, autocommit=True, cursor_factory=psycopg.AsyncClientCursor
        ) as connection:
            await connection.execute(SEED, {**named, "session": session_uuid(space, "s")})
            await connection.execute("VACUUM (ANALYZE)")
            (some,) = await (await connection.execute("SELECT id FROM turns WHERE given_id = 't-500'")).fetchone()
        pool = create_pool(store.url, 1)
        pool.kwargs["options"] += EXPLAIN
        async with pool:
            turns = PostgresTurns(pool, Queue(store.url, lambda: 0.5), new_uuid)

            async def plans(action):
                for _ in range(2):
                    await action(turns, space, PublicId(some, space.space_id, IdKind.TURN))
                found = []
                async with pool.connection() as connection:
                    connection.add_notice_handler(lambda notice: found.append(notice.message_primary))
                await action(turns, space, PublicId(some, space.space_id, IdKind.TURN))
                bodies = [json.loads(text.partition("plan:\n")[2]) for text in found if "plan:" in text]
                return [node for body in bodies for node in nodes(body["Plan"])]

            yield plans


async def recent(turns, space, _):
    session = PublicId(session_uuid(space, "s"), space.space_id, IdKind.SESSION)
    assert len(await turns.recent(space.tenant_id, session, 20, 86_400.0)) == 20


async def read(turns, space, turn_id):
    assert (await turns.turn(space.tenant_id, turn_id)).messages


async def listed(turns, space, _):
    assert len(await turns.messages(MessageQuery(space, 20))) == 20


async def searched(turns, space, _):
    assert len(await turns.messages(MessageQuery(space, 20, terms=(501,)))) == 1


async def went_on(turns, space, _):
    since = datetime(2000, 1, 1, tzinfo=UTC)
    assert len(await turns.sessions(SessionQuery(space, 20, since=since))) == 20


async def worked_on(turns, space, turn_id):
    assert len(await turns.jobs(space.tenant_id, JobQuery(20, subjects=(turn_id,)))) == 1


async def posted(turns, space, _):
    await turns.keep(new_turn(space, given_id=str(uuid4())), (), None)


async def came_of(turns, space, turn_id):
    await turns.entries(await turns.turn(space.tenant_id, turn_id), [space])


async def weighed(turns, space, turn_id):
    async with PostgresEntries(turns.pool).unit(space) as unit:
        entry = PublicId(turn_id.uuid, space.space_id, IdKind.MEMORY)
        assert await unit.is_derived(entry)
        await unit.replaced_by(entry)
        await unit.forget_evidence([entry])
        assert not await unit.evidence_of(entry)
        assert len(await unit.evidence_of_turn(turn_id)) == 1


async def looked_for(turns, space, _):
    reached = Reached(turns, PostgresArchives(turns.pool, None), None, [].append)
    async with PostgresForgetting(turns.pool, reached).unit(space, keep=False) as unit:
        await unit.cut([], ("nobody says these words",), None, PublicId(new_uuid(), space.space_id, IdKind.RECEIPT))


async def told(turns, space, turn_id):
    entry = PublicId(turn_id.uuid, space.space_id, IdKind.MEMORY)
    (basis,) = await PostgresEntries(turns.pool).bases(space.tenant_id, (entry,), 20)
    assert len(await turns.messages_by_id(space.tenant_id, [basis.message])) == 1


@pytest.mark.parametrize(
    ("action", "table", "index", "rows"),
    [
        (recent, "messages", "messages_session", 25),
        (read, "messages", "messages_turn", 3),
        (read, "turns", "turns_session", 3),
        (listed, "messages", "messages_pkey", 2_000),  # a space's own messages, which are kept for some days
        (searched, "message_postings", "message_postings_pkey", 3),
        (went_on, "sessions", "sessions_pkey", 2_000),  # a space's own sessions, likewise
        (went_on, "messages", "messages_session", 250),
        (worked_on, "jobs", "jobs_pkey", 2_000),  # a space's own jobs, which are kept for a day
        (looked_for, "message_postings", "message_postings_pkey", 3),
        (posted, "turns", "turns_given", 3),
        (came_of, "memory_evidence", "memory_evidence_pkey", 3),
        (came_of, "derived_entries", "derived_entries_pkey", 3),
        (told, "memory_evidence", "memory_evidence_entry", 3),
        (told, "messages", "messages_pkey", 3),
        (weighed, "memory_evidence", "memory_evidence_pkey", 3),
        (weighed, "memory_evidence", "memory_evidence_entry", 3),
        (weighed, "derived_entries", "derived_entries_pkey", 3),
    ],
)
async def test_what_was_said_is_read_by_its_keys(plans_of, action, table, index, rows):
    plan = await plans_of(action)
    assert "Seq Scan" not in {kind for kind, _ in kinds(reads(plan, table))}
    using = [node for node in plan if node.get("Index Name") == index]
    assert using, kinds(reads(plan, table))
    assert max(node["Actual Rows"] for node in using) <= rows
