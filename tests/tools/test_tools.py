"""The official SDK's client lists and calls every tool over both transports, within the rules of the API."""

import io
import json
import os
import sys
from contextlib import asynccontextmanager

import httpx2
import pytest
import structlog
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from app.domain.callers import NewKey, Role
from app.logs import where_it_failed
from app.main import create_app
from app.mcp_server.tools import TOOLS
from app.runtime import new_secret, new_uuid
from app.store.keys import ensure_key
from tests.logged import logged
from tests.serving import served

SPACE = "user:model"
SECRET = "xylophone"


@pytest.fixture(scope="module")
async def url(runtime):
    async with served(create_app(runtime)) as address:
        yield address


@asynccontextmanager
async def over_http(url, key, space=None):
    headers = {"Authorization": f"Bearer {key}", **({"X-Ricordo-Space": space} if space else {})}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        Client(streamable_http_client(f"{url}/mcp", http_client=http)) as client,
    ):
        yield client


@asynccontextmanager
async def over_stdio(url, key, space=None):
    arguments = ["-m", "app.cli", "mcp", "--url", url, *(["--space", space] if space else [])]
    environment = {"RICORDO_API_KEY": key, "PYTHONPATH": os.pathsep.join(sys.path), "PATH": os.environ["PATH"]}
    parameters = StdioServerParameters(command=sys.executable, args=arguments, env=environment)
    async with Client(stdio_client(parameters)) as client:
        yield client


TRANSPORTS = [pytest.param(over_http, id="http"), pytest.param(over_stdio, id="stdio")]


async def told(client, tool, **arguments):
    """What a tool says, and whether it is an error."""
    result = await client.call_tool(tool, arguments)
    return "".join(part.text for part in result.content), bool(result.is_error)


@pytest.mark.parametrize("connect_to", TRANSPORTS)
async def test_every_tool_is_listed_and_can_be_called(connect_to, url, tenant, client, runtime):
    said = {"space": SPACE, "session": "s", "messages": [{"text": "Last week I bought a telescope."}]}
    await client.post("/turns", json=said)
    await client.post("/sessions/s/end", params={"space": SPACE})
    await client.post("/soul", json={"space": "agent:nonna", "name": "persona", "text": "You are Nonna."})
    await runtime.queue.drain()
    async with connect_to(url, tenant.key, SPACE) as model:
        listed = {tool.name: tool for tool in (await model.list_tools()).tools}
        assert listed.keys() == {tool.__name__ for tool in TOOLS}
        assert all(len(tool.description) > 80 and tool.annotations is not None for tool in listed.values())
        assert "context" not in listed["recall"].input_schema["properties"]

        text, failed = await told(model, "remember", text="I live in Rome")
        assert text.startswith(f"Remembered in {SPACE} (mem_")
        assert not failed
        assert "It replaces mem_" in (await told(model, "remember", text="I moved, I live in Turin now"))[0]
        assert "known already" in (await told(model, "remember", text="I moved, I live in Turin now"))[0]
        assert "Turin" in (await told(model, "recall", query="Which city do I live in?"))[0]
        assert "Do not guess" in (await told(model, "recall", query="quarks", space="user:nobody"))[0]
        assert "Turin" in (await told(model, "assemble_context", message="Which city do I live in?"))[0]
        assert "telescope" in (await told(model, "search_conversations", query="telescope"))[0]
        late = await told(model, "search_conversations", query="telescope", since="2999-01-01T00:00:00Z")
        assert "No past conversation" in late[0]

        put_right = (await told(model, "correct", said="I live in Milan, not in Turin."))[0]
        assert "cor_" in put_right
        unknown = await told(model, "answer_question", id="../spaces", choice="everywhere")
        assert unknown[0].startswith("not-found: ")
        kept = (await told(model, "remember", text="I own a kayak"))[0]
        erased = await told(model, "forget", ids=[kept.partition("(")[2].partition(")")[0]])
        assert erased == ("Erased for good: 1.", False)

        templates = {t.uri_template for t in (await model.list_resource_templates()).resource_templates}
        assert templates == {"ricordo://profile/{space}", "ricordo://soul/{space}"}
        assert "telescope" in (await model.read_resource(f"ricordo://profile/{SPACE}")).contents[0].text
        assert "You are Nonna." in (await model.read_resource("ricordo://soul/agent:nonna")).contents[0].text


@pytest.mark.parametrize("connect_to", TRANSPORTS)
async def test_questions_are_answered_and_records_changed(connect_to, url, tenant, client):
    async with connect_to(url, tenant.key, SPACE) as model:
        assert await told(model, "open_questions") == ("No question is open.", False)
        await client.post("/memories", json={"space": SPACE, "text": "Mira's eyes are blue."})
        wrong = {"space": SPACE, "said": "Mira's eyes are green, not blue.", "scopes": ["story:au1"]}
        asked = await client.post("/corrections", json=wrong)
        assert asked.json()["open"], asked.text
        question = (await told(model, "open_questions"))[0]
        assert asked.json()["id"] in question
        choice = asked.json()["options"][0]["key"]
        answered = await told(model, "answer_question", id=asked.json()["id"], choice=choice)
        assert not answered[1], answered

        recorded = (await told(model, "write_record", kind="note", payload={"text": "Play a song on Friday"}))[0]
        assert recorded.startswith("Recorded: ")
        record = recorded.rpartition("(")[2].partition(",")[0]
        assert record in (await told(model, "read_records", kind="note"))[0]
        changed = (await told(model, "change_record", id=record, version=1, status="done"))[0]
        assert "[done]" in changed
        assert "version 2" in changed
        stale = await told(model, "change_record", id=record, version=1, status="open")
        assert ("precondition-failed" in stale[0], stale[1]) == (True, True)
        assert await told(model, "read_records") == ("There is no such record.", False)


@pytest.mark.parametrize("connect_to", TRANSPORTS)
async def test_errors_and_limits_are_those_of_the_api(connect_to, url, tenant):
    async with connect_to(url, tenant.key) as model:
        for arguments, problem in [
            ({"text": "x"}, "invalid-input: space: name the space"),
            ({"text": "x", "space": "nowhere"}, "invalid-input: space:"),
        ]:
            text, failed = await told(model, "remember", **arguments)
            assert (failed, text.startswith(problem)) == (True, True), text
    async with connect_to(url, tenant.issue(Role.READER), SPACE) as model:
        told_reader = await told(model, "remember", text="x")
        assert told_reader == ("forbidden: this needs a key with the role writer; this key is a reader", True)


BAD = [
    ("remember", "/memories", {"text": "x" * 20_001}),
    ("remember", "/memories", {"text": "a\0b"}),
    ("remember", "/memories", {"text": " "}),
    ("remember", "/memories", {}),
    ("remember", "/memories", {"text": 5}),
    ("remember", "/memories", {"text": "x", "importance": 7}),
    ("remember", "/memories", {"text": "x", "category": SECRET}),
    ("remember", "/memories", {"text": "x", "scope": "nowhere"}),
    ("remember", "/memories", {"text": "x", "mood": SECRET}),
    ("recall", "/search", {"query": "x" * 20_001}),
    ("recall", "/search", {"query": "x", "limit": 0}),
    ("correct", "/corrections", {"said": ""}),
    ("write_record", "/records", {"kind": "nonsense", "payload": {}}),
    ("write_record", "/records", {"kind": "note", "payload": {"what": 1}}),
    ("forget", "/forget", {"ids": ["nonsense"]}),
]


@pytest.mark.parametrize("connect_to", TRANSPORTS)
async def test_bad_arguments_are_refused_in_the_words_of_the_api(connect_to, url, tenant, client):
    """Whoever finds out: the tool, whose arguments have their own schema, or the API behind it."""
    async with connect_to(url, tenant.key, SPACE) as model:
        for tool, path, arguments in BAD:
            problem = (await client.post(path, json={"space": SPACE, **arguments})).json()
            words = f"{problem['type'].rpartition(':')[2]}: {problem['detail']}"
            assert await told(model, tool, **arguments) == (words, True), (tool, arguments)
        for tool, arguments, words in [
            ("recall", {"query": "x", "limit": 21}, "invalid-input: limit: Input should be less than or equal to 20"),
            (
                "search_conversations",
                {"query": "x", "since": "2026-01-01T00:00:00"},
                "invalid-input: from: needs a time",
            ),
            ("search_conversations", {"query": "x", "since": SECRET}, "invalid-input: since: Input should be a valid"),
            ("forget", {"ids": []}, "invalid-input: ids: must have at least 1 item"),
            ("erase_everything", {}, "not-found: there is no tool erase_everything"),
        ]:
            text, failed = await told(model, tool, **arguments)
            assert (failed, text.startswith(words), SECRET in text) == (True, True, False), text


@pytest.mark.parametrize("connect_to", TRANSPORTS)
async def test_refused_resources_say_why(connect_to, url, tenant):
    async with connect_to(url, tenant.issue(Role.READER, ("user:other",))) as model:
        for resource, words in [
            (f"profile/{SPACE}", "forbidden: this key does not reach"),
            (f"soul/{SPACE}", "forbidden: this key does not reach"),
            ("profile/nowhere", "invalid-input: space: "),
        ]:
            with pytest.raises(MCPError, match=words):
                await model.read_resource(f"ricordo://{resource}")


async def test_a_key_that_has_expired_opens_no_door(url, tenant, database_url):
    key = new_secret()
    ensure_key(database_url, tenant.name, key, new_uuid(), NewKey("gone", Role.WRITER, None, 0.001))
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}) as http:
        reply = await http.post(f"{url}/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    assert (reply.status_code, reply.json()["type"]) == (401, "urn:ricordo:problem:unauthenticated")
    with pytest.raises(Exception):  # noqa: B017, PT011 - the SDK has several errors for a door that is shut
        async with over_http(url, key, SPACE) as model:
            await model.list_tools()
    async with over_stdio(url, key, SPACE) as model:
        text, failed = await told(model, "recall", query="x")
        assert (failed, text.startswith("unauthenticated: ")) == (True, True), text


async def test_what_is_no_call_is_answered_without_hanging(url, tenant):
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {tenant.key}"}, timeout=30) as http:
        for method in ("GET", "DELETE"):  # a stream of its own, and a session: there are none
            reply = await http.request(method, f"{url}/mcp")
            assert (reply.status_code, reply.headers["allow"]) == (405, "POST")
            assert reply.json()["type"] == "urn:ricordo:problem:method-not-allowed"
        reply = await http.post(f"{url}/mcp", content=b" " * (33 << 20))
        assert (reply.status_code, reply.json()["type"]) == (413, "urn:ricordo:problem:too-large")


async def test_a_tool_that_crashes_tells_nothing_and_is_logged(url, tenant, monkeypatch):
    def crash(_entry):
        raise KeyError(SECRET)

    monkeypatch.setattr("app.mcp_server.tools._entry_line", crash)
    log = io.StringIO()
    monkeypatch.setattr("app.mcp_server.server._log", structlog.wrap_logger(
        structlog.WriteLogger(log), processors=[where_it_failed, structlog.processors.JSONRenderer()]
    ))  # fmt: skip
    async with over_http(url, tenant.key, SPACE) as model:
        await told(model, "remember", text="I sail.")
        assert await told(model, "recall", query="sail") == ("internal: something failed inside; it was logged", True)
    assert json.loads(log.getvalue())["exception"][0]["type"] == "KeyError"
    assert SECRET not in log.getvalue()


@pytest.mark.parametrize("connect_to", TRANSPORTS)
async def test_a_foreign_key_reaches_nothing(connect_to, url, *, client, tenant, new_tenant):
    """leak-04, through the models' door: tools and resources of another tenant, or of another space.

    Nor does the log, ours or the SDK's, quote what a tool was asked or told.
    """
    text = f"The secret is {SECRET}."
    written = (await client.post("/memories", json={"space": SPACE, "text": text})).json()["id"]
    await client.post("/turns", json={"space": SPACE, "session": SECRET, "messages": [{"text": text}]})
    await client.post("/soul", json={"space": SPACE, "name": "persona", "text": text})
    calls = [
        ("assemble_context", {"message": f"What is the {SECRET}?", "session": SECRET, "persona": SPACE}),
        ("recall", {"query": SECRET}),
        ("search_conversations", {"query": "secret"}),
        ("remember", {"text": "intruder"}),
        ("correct", {"said": "I am called Intruder, not Ana."}),
        ("forget", {"ids": [written]}),
        ("open_questions", {}),
        ("read_records", {"status": None}),
        ("write_record", {"kind": "note", "payload": {"text": "intruder"}}),
    ]
    assert {name for name, _ in calls} | {"answer_question", "change_record"} == {tool.__name__ for tool in TOOLS}
    keys = [(new_tenant().key, False), (tenant.issue(Role.WRITER, ("user:other",)), True)]
    note = {"space": SPACE, "kind": "note", "payload": {"text": text}}
    record = (await client.post("/records", json=note)).json()["id"]
    with logged() as log:
        await reaches_nothing(connect_to, url, keys, calls, record)
    assert SECRET not in log.getvalue()
    assert '"route": "/mcp"' in log.getvalue() or connect_to is over_stdio
    assert [m["text"] for m in (await client.get("/memories", params={"space": SPACE})).json()["items"]] == [text]


async def reaches_nothing(connect_to, url, keys, calls, record):
    for key, is_limited in keys:
        async with connect_to(url, key) as model:
            for name, arguments in calls:
                said, failed = await told(model, name, space=SPACE, **arguments)
                assert SECRET not in said
                assert failed == (is_limited or name == "forget"), (name, said)
                assert ("forbidden: this key does not reach" in said) == is_limited
            said, failed = await told(model, "change_record", id=record, version=1, status="done")
            assert (failed, "not-found" in said) == (True, True)
            for resource in ("profile", "soul"):
                if is_limited:
                    with pytest.raises(MCPError, match="forbidden"):
                        await model.read_resource(f"ricordo://{resource}/{SPACE}")
                else:
                    read = await model.read_resource(f"ricordo://{resource}/{SPACE}")
                    assert SECRET not in read.contents[0].text


async def test_without_a_valid_key_there_is_no_door(url):
    async with httpx2.AsyncClient() as http:
        for headers in ({}, {"Authorization": "Bearer rk_wrong"}):
            reply = await http.post(
                f"{url}/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, headers=headers
            )
            assert (reply.status_code, reply.json()["type"]) == (401, "urn:ricordo:problem:unauthenticated")


async def test_a_service_that_is_down_is_told_over_stdio(tenant):
    async with over_stdio("http://127.0.0.1:1", tenant.key, SPACE) as model:
        text, failed = await told(model, "recall", query="x")
        assert failed
        assert "unavailable: the service does not answer" in text


@pytest.mark.parametrize("connect_to", TRANSPORTS)
async def test_no_tool_writes_lore_with_a_writers_key(connect_to, url, tenant, client):
    lore = "lore:giulia"
    made = (await client.post("/memories", json={"space": lore, "text": "Giulia grew up in Camogli."})).json()
    note = {"space": lore, "kind": "note", "payload": {"text": "Closed."}}
    record = (await client.post("/records", json=note)).json()
    async with connect_to(url, tenant.issue(Role.WRITER)) as model:
        for tool, arguments in [
            ("remember", {"text": "Giulia was born on Mars.", "space": lore}),
            ("correct", {"said": "Giulia grew up on Mars, not in Camogli.", "space": lore}),
            ("forget", {"ids": [made["id"]], "space": lore}),
            ("write_record", {"kind": "note", "payload": {"text": "Mars."}, "space": lore}),
            ("change_record", {"id": record["id"], "version": 1, "status": "done"}),
        ]:
            text, _ = await told(model, tool, **arguments)
            assert "forbidden" in text, (tool, text)
    for path in ("/memories", "/records"):
        (kept,) = (await client.get(path, params={"space": lore})).json()["items"]
        assert kept["version"] == 1
