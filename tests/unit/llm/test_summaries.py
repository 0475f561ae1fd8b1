"""A model's summary is used if it is right in every respect; else the extractive one is."""

from datetime import UTC, datetime
from uuid import UUID

import httpx
import orjson
import pytest
from structlog.testing import capture_logs

from app.extraction.budgeted import BudgetedCompleter
from app.llm.client import ChatCompleter, completions_url
from app.llm.summaries import LlmSummariser
from app.turns.summary import summarise
from tests.fakes.budget import Budget
from tests.fakes.llm_server import GOOD, chat, http, running_llm
from tests.turn_builders import conversation, message

SAID = (message("I moved to Turin in May.", 1), message("I like it there.", 2))
PLAIN = summarise(conversation(), SAID)


@pytest.fixture
async def server():
    async with running_llm() as fake:
        yield fake


async def ask(server, timeout_s=10.0, messages=SAID, budget=None):
    async with httpx.AsyncClient() as client:
        completer = ChatCompleter(client, completions_url(server.url), "small", "secret", timeout_s, wait_s=0.01)
        summariser = LlmSummariser(BudgetedCompleter(completer, budget or Budget(), len))
        with capture_logs():
            return await summariser.summarise(UUID(int=1), PLAIN, messages, datetime(2026, 1, 1, tzinfo=UTC))


async def test_a_right_answer_is_used_with_our_own_times(server):
    told = await ask(server)
    assert (told.text, told.places, told.sentiment) == (GOOD["summary"], ("Turin",), "positive")
    assert told.by_model
    assert (told.started_at, told.ended_at) == (PLAIN.started_at, PLAIN.ended_at)
    assert "Authorization: Bearer secret".lower() in server.headers[0].lower()
    assert server.asked[0]["messages"][1]["content"] == "Ana: I moved to Turin in May.\nAna: I like it there."
    assert server.asked[0]["response_format"]["type"] == "json_schema"


async def test_an_answer_in_a_fence_is_read(server):
    server.answer = chat(f"Here you are:\n```json\n{orjson.dumps(GOOD).decode()}\n```")
    assert (await ask(server)).text == GOOD["summary"]


@pytest.mark.parametrize(
    "answer",
    [
        chat("I cannot help with that."),
        chat(None),
        chat(""),
        chat("{}"),
        chat("[1, 2]"),
        chat('{"summary": '),
        chat(orjson.dumps({**GOOD, "sentiment": "ecstatic"}).decode()),
        chat(orjson.dumps({**GOOD, "summary": "Short."}).decode()),
        chat(orjson.dumps({**GOOD, "summary": "x" * 4_001}).decode()),
        chat(orjson.dumps({**GOOD, "summary": "Ana moved to\x00 Turin in May."}).decode()),
        chat(orjson.dumps({**GOOD, "people": "Ana"}).decode()),
        chat(orjson.dumps({**GOOD, "people": ["x"] * 17}).decode()),
        chat(orjson.dumps({**GOOD, "mood": "fine"}).decode()),
        http(b"not json"),
        http(b"{}"),
        http(b'{"choices": []}'),
        http(b"[]"),
        http(b"overloaded", "503 Service Unavailable"),
        http(b"{}", "401 Unauthorized"),
        http(b"x" * 300_000),
        b"garbage\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{",
        None,
    ],
)
async def test_refusals_and_nonsense_are_no_summary(server, answer):
    server.answer = answer
    assert await ask(server) is None


async def test_a_model_that_hangs_is_given_up(server):
    server.hangs = True
    assert await ask(server, timeout_s=0.2) is None


async def test_a_server_that_is_not_there_is_no_summary(server):
    server.url = "http://127.0.0.1:1/v1"
    assert await ask(server) is None


async def test_a_long_conversation_is_sent_in_part(server):
    await ask(server, messages=[message("word " * 2_000, n) for n in range(20)])
    assert len(server.asked[0]["messages"][1]["content"]) < 25_000


async def test_summaries_are_of_the_tenants_budget_too(server):
    spent, full = Budget(left=100), Budget()
    assert await ask(server, budget=spent) is None
    assert server.asked == []
    assert (await ask(server, budget=full)).by_model
    assert full.left < 100_000
