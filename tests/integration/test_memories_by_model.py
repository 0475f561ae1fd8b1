"""What a language model finds in turns becomes memories, and the rules stand in for it."""

from datetime import UTC, datetime
from uuid import uuid4

import pytest

from app.domain.callers import Caller, Role
from app.domain.entries import Tier
from app.domain.spaces import SpaceKey
from app.entries.ports import Listing
from app.runtime import open_runtime
from app.settings import Settings
from app.turns.ports import JobOptions
from app.turns.records import Task
from app.turns.service import Posted, PostedTurn
from tests.fakes.chat_server import ChatServer, finds, memory, says

CALLER = Caller(uuid4(), Role.ADMINISTRATOR)
SPACE = SpaceKey(CALLER.tenant_id, "user:ana")


@pytest.fixture
async def model():
    async with ChatServer() as server:
        yield server


@pytest.fixture
async def runtime(new_database, tmp_path, model):
    settings = {"database_url": new_database(), "data_dir": tmp_path, "worker": "none"}
    asked = {"llm_url": model.base_url(), "llm_model": "small"}
    async with open_runtime(Settings.model_validate({**settings, **asked})) as runtime:
        yield runtime


async def post(runtime, *texts):
    said = PostedTurn(
        space=SPACE.name,
        session="s",
        given_id=None,
        fingerprint=b"",
        messages=tuple(Posted(text=text) for text in texts),
    )
    return await runtime.turns.post(CALLER, said, datetime.now(UTC))


async def remembered(runtime):
    return [entry.content.text for entry in await runtime.entries.listing(Listing(SPACE, Tier.MEMORIES, 50))]


async def test_what_the_model_finds_is_kept_and_reading_again_changes_nothing(runtime, model):
    model.always = says(finds(memory(1, "herons are my thing", category="interest")))
    turn = await post(runtime, "Honestly, herons are my thing.", "Hello!")
    await runtime.queue.drain()
    assert await remembered(runtime) == ["herons are my thing"]
    model.always = says(finds(memory(1, "Honestly, herons", category="fact")))
    await runtime.queue.handlers[Task.MEMORIES](CALLER.tenant_id, turn.id, JobOptions())
    assert await remembered(runtime) == ["herons are my thing"]


@pytest.mark.parametrize("answer", ["I cannot help with that.", '{"memories": 7}'])
async def test_the_rules_stand_in_for_a_model_that_refuses_or_talks_nonsense(runtime, model, answer):
    model.always = says(answer)
    await post(runtime, "I live in Turin.")
    await runtime.queue.drain()
    assert await remembered(runtime) == ["I live in Turin"]


async def test_what_the_message_does_not_say_is_not_kept(runtime, model):
    model.always = says(finds(memory(1, "I live in Paris"), memory(2, "Hello there, friend")))
    await post(runtime, "I live in Turin.")
    await runtime.queue.drain()
    assert await remembered(runtime) == []
