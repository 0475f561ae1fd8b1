"""Extraction with a model on the loopback that misbehaves: the rules stand in, and the budget holds."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from uuid import UUID

import httpx
import pytest

from app.extraction.budgeted import BudgetedCompleter
from app.extraction.model import ANSWER_TOKENS
from app.extraction.records import Said
from app.extraction.service import ExtractionService
from app.llm.client import REPLY_BYTES, ChatCompleter, completions_url
from tests.fakes.budget import Budget
from tests.fakes.chat_server import ChatServer, finds, memory, says
from tests.fakes.embedding_server import answers, hangs_up, stalls

NOW = datetime(2026, 1, 1, tzinfo=UTC)
TENANT = UUID(int=1)
SAID = [Said("m1", "I live in Oslo, and I collect maps of the moon."), Said("m2", "Good morning!")]
BY_MODEL = says(finds(memory(1, "I collect maps of the moon", category="interest")))


@pytest.fixture
async def server() -> AsyncIterator[ChatServer]:
    async with ChatServer() as running:
        yield running


@pytest.fixture
def budget() -> Budget:
    return Budget()


@pytest.fixture
async def service(server: ChatServer, budget: Budget) -> AsyncIterator[ExtractionService]:
    async with httpx.AsyncClient() as client:
        completer = ChatCompleter(client, completions_url(server.base_url()), "small", "sk-1", timeout_s=0.5, wait_s=0)
        yield ExtractionService(BudgetedCompleter(completer, budget, len))


async def kept(service: ExtractionService) -> list[list[str]]:
    found = await service.extract(TENANT, SAID, NOW)
    return [[proposal.text for proposal in one.proposals] for one in found]


BY_RULES = [["I live in Oslo", "I collect maps of the moon"], []]


async def test_a_model_is_asked_for_structured_output_and_what_it_finds_is_taken(server, service):
    server.always = BY_MODEL
    assert await kept(service) == [["I collect maps of the moon"], []]
    (asked,) = server.asked
    assert (asked.path, asked.headers["authorization"]) == ("/v1/chat/completions", "Bearer sk-1")
    assert asked.fields["model"] == "small"
    form = asked.fields["response_format"]
    assert (form["type"], form["json_schema"]["strict"]) == ("json_schema", True)
    assert form["json_schema"]["schema"]["required"] == ["memories"]


@pytest.mark.parametrize(
    "behaviour",
    [
        pytest.param(says("I cannot help with that."), id="prose"),
        pytest.param(says(finds(), refusal="No."), id="refusal"),
        pytest.param(says(finds(), finish="length"), id="cut short"),
        pytest.param(says(finds(), finish="content_filter"), id="filtered"),
        pytest.param(says('{"memories": [1]}'), id="another schema"),
        pytest.param(answers(200, b"<html>"), id="no JSON"),
        pytest.param(answers(200, b'{"choices": []}'), id="no choice"),
        pytest.param(answers(200, b'{"choices": [{"message": {"content": null}}]}'), id="no text"),
        pytest.param(answers(200, b"[]"), id="another form"),
        pytest.param(answers(200, b"x" * (REPLY_BYTES + 1)), id="endless"),
        pytest.param(answers(401, b"who?"), id="no key"),
        pytest.param(answers(400, b"no response_format"), id="refused request"),
        pytest.param(answers(503), id="overloaded"),
        pytest.param(hangs_up, id="hangs up"),
        pytest.param(stalls, id="late"),
    ],
)
async def test_whatever_is_wrong_with_a_model_the_rules_stand_in(server, service, behaviour):
    server.always = behaviour
    assert await kept(service) == BY_RULES


@pytest.mark.parametrize("first", [answers(503), answers(429), hangs_up])
async def test_a_model_that_was_only_busy_is_asked_once_more(server, service, first):
    server.coming.append(first)
    server.always = BY_MODEL
    assert (await kept(service))[0] == ["I collect maps of the moon"]
    assert len(server.asked) == 2


async def test_only_what_was_taken_counts_against_the_budget(server, service, budget):
    server.always = says(finds(), tokens=120)
    await kept(service)
    assert budget.left == 100_000 - 120
    server.always = says("no", refusal="No.", tokens=30)
    await kept(service)
    assert budget.left == 100_000 - 150


async def test_what_a_server_does_not_tell_counts_as_the_most_it_can_be(server, service, budget):
    server.always = says(finds(), tokens=None)
    await kept(service)
    assert budget.left < 100_000 - ANSWER_TOKENS


async def test_a_server_that_never_answered_took_nothing(server, service, budget):
    server.always = hangs_up
    await kept(service)
    assert budget.left == 100_000


async def test_without_a_budget_left_no_model_is_asked(server, service, budget):
    budget.left = 10
    assert await kept(service) == BY_RULES
    assert server.asked == []


async def test_when_the_budget_cannot_be_read_the_rules_stand_in(service, budget):
    budget.fails = True
    assert await kept(service) == BY_RULES


async def test_without_a_model_the_rules_read_everything():
    assert await kept(ExtractionService(None)) == BY_RULES


async def test_one_failed_batch_does_not_touch_the_others(server, service):
    many = [Said(f"m{number}", "I live in Oslo.") for number in range(25)]
    server.coming.append(says("nonsense"))
    found = await service.extract(TENANT, many, NOW)
    assert [one.language for one in found] == ["en"] * 20 + ["model"] * 5


@pytest.mark.parametrize("url", ["ftp://x/v1", "localhost:11434", "http:///v1"])
def test_a_url_that_is_none_is_refused(url):
    with pytest.raises(ValueError, match="http"):
        completions_url(url)
