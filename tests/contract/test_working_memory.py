"""Working memory behaves alike in Postgres and in Redis: the same cases against both."""

import shutil
import socket
import subprocess
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from redis.asyncio import Redis
from structlog.testing import capture_logs

from app.domain.errors import UnavailableError
from app.domain.ids import IdKind, PublicId
from app.domain.spaces import SpaceKey
from app.runtime import new_uuid
from app.store.queue import Queue
from app.store.turns import PostgresTurns
from app.store.working import WORKING_MESSAGES, PostgresWorkingMemory, RedisWorkingMemory, connect_redis
from app.turns.records import NewMessage, NewTurn, Speaker, session_uuid
from tests.integration.stores import create_database, open_store

TTL_S = 3600.0


@pytest.fixture(scope="module")
def redis_url(tmp_path_factory):
    """A Redis of its own, from Debian's package redis-server."""
    binary = shutil.which("redis-server")
    if binary is None:
        pytest.skip("no redis-server on this machine: apt-get install redis-server")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    folder = tmp_path_factory.mktemp("redis")
    server = subprocess.Popen(
        [binary, "--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder), "--save", ""],
        stdout=subprocess.PIPE,
        text=True,
    )
    for line in server.stdout or ():
        if "Ready to accept connections" in line:
            break
    yield f"redis://127.0.0.1:{port}/0"
    server.terminate()
    server.communicate(timeout=30)


@pytest.fixture(scope="module")
async def turns(database_url):
    async with open_store(create_database(database_url, "working")) as store:
        yield PostgresTurns(store.pool, Queue(store.url, lambda: 0.5), new_uuid)


class Clock:
    """Now, and what a test makes of it."""

    ahead = timedelta()

    def __call__(self):
        return datetime.now(UTC) + self.ahead


class Said:
    """One session of one space, kept as the service keeps it."""

    def __init__(self, turns, memory, space):
        self.turns, self.memory, self.space = turns, memory, space

    @property
    def tenant_id(self):
        return self.space.tenant_id

    def session(self, name="s"):
        return PublicId(session_uuid(self.space, name), self.space.space_id, IdKind.SESSION)

    async def say(self, *texts, session="s", at=None):
        at = at or datetime.now(UTC)
        messages = [NewMessage(id=new_uuid(), text=t, role=Speaker.USER, said_at=at) for t in texts]
        turn = NewTurn(
            id=PublicId(new_uuid(), self.space.space_id, IdKind.TURN),
            space=self.space,
            session=session_uuid(self.space, session),
            session_name=session,
            conversation=new_uuid(),
            given_id=None,
            fingerprint=b"",
            said_at=at,
            messages=tuple(messages),
        )
        stored = await self.turns.keep(turn, (), None)
        await self.memory.add(self.tenant_id, stored.messages)
        return stored.messages

    async def texts(self, session="s"):
        return [m.text for m in await self.memory.recent(self.tenant_id, self.session(session))]


@pytest.fixture(params=["postgres", "redis"])
async def said(request, turns):
    space = SpaceKey(uuid4(), "user:ana")
    if request.param == "postgres":
        yield Said(turns, PostgresWorkingMemory(turns, TTL_S), space)
        return
    redis = connect_redis(request.getfixturevalue("redis_url"))
    yield Said(turns, RedisWorkingMemory(redis, turns, TTL_S, Clock()), space)
    await redis.aclose()


async def test_a_message_is_there_as_soon_as_it_was_said_whole_and_in_order(said):
    first = await said.say("One.", "Two.")
    second = await said.say("Three.")
    assert await said.memory.recent(said.tenant_id, said.session()) == (*first, *second)


async def test_what_was_said_before_stands_before_whenever_it_came(said):
    await said.say("Later.", at=datetime(2026, 1, 2, tzinfo=UTC))
    await said.say("Earlier.", at=datetime(2026, 1, 1, tzinfo=UTC))
    assert await said.texts() == ["Earlier.", "Later."]


async def test_sessions_spaces_and_tenants_are_apart(said):
    await said.say("Mine.")
    others = [
        said.session("other"),
        Said(said.turns, said.memory, SpaceKey(said.tenant_id, "user:ben")).session(),
        Said(said.turns, said.memory, SpaceKey(uuid4(), "user:ana")).session(),
    ]
    for session in others:
        assert await said.memory.recent(said.tenant_id, session) == ()
    assert await said.memory.recent(uuid4(), said.session()) == ()


async def test_an_edited_message_is_replaced_and_a_deleted_one_is_gone(said):
    one, two = await said.say("One.", "Two.")
    edited = await said.turns.edit(said.tenant_id, one, "Uno.", (), None)
    await said.memory.add(said.tenant_id, [edited])
    assert await said.texts() == ["Uno.", "Two."]
    await said.turns.delete(said.space, (), message=two.id.uuid)
    await said.memory.forget(said.tenant_id, said.session(), [two.id])
    assert await said.texts() == ["Uno."]


async def test_the_latest_messages_are_kept(said):
    for start in range(0, WORKING_MESSAGES + 100, 100):
        await said.say(*(f"{n}" for n in range(start, start + 100)))
    assert await said.texts() == [f"{n}" for n in range(100, WORKING_MESSAGES + 100)]


async def test_a_message_runs_out(said):
    await said.say("Old.")
    if isinstance(said.memory, RedisWorkingMemory):
        said.memory.now.ahead = timedelta(seconds=TTL_S + 1)
    else:
        said.memory = replace(said.memory, ttl_s=0.0)
    assert await said.texts() == []


async def test_refreshing_changes_nothing_that_was_right(said):
    await said.say("One.", "Two.")
    await said.memory.refresh(said.tenant_id, said.session())
    assert await said.texts() == ["One.", "Two."]


async def test_a_session_expires_in_redis_as_a_whole(redis_url, turns):
    redis = connect_redis(redis_url)
    said = Said(turns, RedisWorkingMemory(redis, turns, TTL_S, Clock()), SpaceKey(uuid4(), "user:ana"))
    await said.say("One.")
    (key,) = [key async for key in redis.scan_iter(f"*{said.tenant_id}*")]
    assert 0 < await redis.ttl(key) <= TTL_S + 1
    await redis.aclose()


async def test_a_busy_session_takes_no_more_of_redis_than_counts(redis_url, turns):
    redis = connect_redis(redis_url)
    said = Said(turns, RedisWorkingMemory(redis, turns, TTL_S, Clock()), SpaceKey(uuid4(), "user:ana"))
    for start in range(0, WORKING_MESSAGES + 300, 100):
        await said.say(*(f"{n}" for n in range(start, start + 100)))
    await said.memory.refresh(said.tenant_id, said.session())
    (key,) = [key async for key in redis.scan_iter(f"*{said.tenant_id}*")]
    assert await redis.hlen(key) == WORKING_MESSAGES
    assert (await said.texts())[0] == "300"
    await redis.aclose()


async def test_what_redis_missed_comes_with_the_next_refresh(redis_url, turns):
    redis = connect_redis(redis_url)
    memory = RedisWorkingMemory(redis, turns, TTL_S, Clock())
    said = Said(turns, memory, SpaceKey(uuid4(), "user:ana"))
    one, two = await said.say("One.", "Two.")
    down = Said(turns, RedisWorkingMemory(Redis(port=1), turns, TTL_S, Clock()), said.space)
    with capture_logs() as logs:
        await down.say("Three.")
        await turns.delete(said.space, (), message=one.id.uuid)
        await down.memory.forget(said.tenant_id, said.session(), [one.id])
    assert len(logs) == 2
    with pytest.raises(UnavailableError):
        await down.texts()
    with pytest.raises(UnavailableError):
        await down.memory.refresh(said.tenant_id, said.session())
    assert await said.texts() == ["One.", "Two."]
    await memory.refresh(said.tenant_id, said.session())
    assert await said.texts() == ["Two.", "Three."]
    assert two.text == "Two."
    await redis.aclose()
