"""The official OpenAI client talks through Ricordo to a model server, and is remembered."""

import asyncio
import json
from dataclasses import replace

import httpx
import httpx2
import openai
import psycopg
import pytest
from starlette.responses import JSONResponse

from app.domain.callers import NewKey, Role
from app.domain.errors import UnavailableError
from app.llm.upstream import Upstream, open_upstream_client
from app.main import create_app
from app.proxy.afterwards import Afterwards
from app.runtime import new_secret, new_uuid, open_runtime
from app.settings import Settings
from app.store import embedded
from app.store.keys import ensure_key
from tests.fakes.upstream import ModelServer, chunk
from tests.logged import logged
from tests.serving import served

THEIR_KEY = "sk-upstream-narwhal-0123456789"
MOVED = {"role": "user", "content": "I moved to Turin in May."}


async def at_once(_seconds: float) -> None:
    """No waiting."""


@pytest.fixture
async def model():
    return ModelServer()


@pytest.fixture
async def open_proxy(runtime, model):
    """Serves the proxy over a runtime, with some of it replaced; gives the URL and the runtime."""
    stack = []

    async def open_with(**parts):
        upstream_server = served(model.app)
        url = await upstream_server.__aenter__()
        client = open_upstream_client()
        upstream = Upstream(client, f"{url}/v1/chat/completions")
        used = replace(runtime, **{"upstream": upstream, "afterwards": Afterwards(at_once), **parts})
        proxy = served(create_app(used))
        address = await proxy.__aenter__()
        stack.extend([(client, None), (upstream_server, 1), (proxy, 1)])
        return f"{address}/v1", used

    yield open_with
    for opened, is_context in reversed(stack):
        await (opened.__aexit__(None, None, None) if is_context else opened.aclose())


def talker(url, key, **headers):
    """The official client, as an application sets it up."""
    own = {"X-Ricordo-Key": key, "X-Ricordo-Session": "s-1", **headers}
    return openai.AsyncOpenAI(base_url=url, api_key=THEIR_KEY, default_headers=own, max_retries=0, timeout=60)


async def said(client, used, space="user:42"):
    """What is in the history of a space, oldest first."""
    await used.afterwards.settled()
    items = (await client.get("/messages", params={"space": space})).json()["items"]
    return [(m["role"], m["text"]) for m in reversed(items)]


TABLES = """SELECT quote_ident(table_name) FROM information_schema.tables
 WHERE table_schema = 'public' AND table_type = 'BASE TABLE'"""

TURN = [("user", "I moved to Turin in May."), ("assistant", "How nice!")]


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])
async def test_it_talks_and_remembers(open_proxy, model, tenant, client, streams):
    await client.post("/memories", json={"space": "user:42", "text": "Answer in French.", **PREFERENCE})
    url, used = await open_proxy()
    chat = talker(url, tenant.key)
    system = {"role": "system", "content": "You are kind."}
    text = await answered(chat, streams, messages=[system, MOVED], user="42", temperature=0.5)
    assert text == "How nice!"
    [asked], [headers] = model.asked, model.headers
    first, second = asked["messages"]
    assert first["content"].startswith("<preferences>\n<preference>Answer in French.")
    assert first["content"].endswith("\n\nYou are kind.")
    assert second == MOVED
    assert (asked["temperature"], asked["user"]) == (0.5, "42")
    assert headers["authorization"] == f"Bearer {THEIR_KEY}"
    assert not [name for name in headers if name.startswith("x-ricordo")]
    assert await said(client, used) == TURN
    sessions = (await client.get("/sessions", params={"space": "user:42"})).json()["items"]
    assert [s["name"] for s in sessions] == ["s-1"]


PREFERENCE = {"category": "output_preference", "importance": 0.9}


async def answered(chat, streams, **request) -> str:
    if not streams:
        return (await chat.chat.completions.create(model="m", **request)).choices[0].message.content
    stream = await chat.chat.completions.create(model="m", stream=True, **request)
    return "".join([event.choices[0].delta.content or "" async for event in stream])


async def test_bytes_go_through_unchanged(open_proxy, model, tenant):
    """Those of an answer, and those of a request for which nothing is remembered."""
    url, _ = await open_proxy()
    body = b'{"model":"m", "messages": [{"role":"user","content":"h\\u00e9 \xc3\xa9"}], "stream": true}'
    headers = {"X-Ricordo-Key": tenant.key, "X-Ricordo-Space": "user:empty", "Authorization": f"Bearer {THEIR_KEY}"}
    async with httpx.AsyncClient() as http:
        reply = await http.post(f"{url}/chat/completions", content=body, headers=headers)
    assert reply.content == b"".join(model.events) + b"data: [DONE]\n\n"
    assert reply.headers["content-type"].startswith("text/event-stream")
    assert reply.headers["x-ricordo-assembly"].startswith("asm_")
    assert model.asked[0]["messages"] == [{"role": "user", "content": "hé é"}]


async def test_headers_say_where_the_conversation_is(open_proxy, model, tenant, client):
    await client.post("/soul", json={"space": "agent:nonna", "name": "persona", "text": "You are Nonna."})
    await client.post("/memories", json={"space": "user:42", "text": "Call me Ada.", "scope": "chat:k", **PREFERENCE})
    url, used = await open_proxy()
    places = {"X-Ricordo-Space": "user:42", "X-Ricordo-Persona": "agent:nonna", "X-Ricordo-Scopes": "chat:k, chat:j"}
    await answered(talker(url, tenant.key, **places), False, messages=[MOVED], user="somebody-else")
    prompt = model.asked[0]["messages"][0]["content"]
    assert "You are Nonna." in prompt
    assert "Call me Ada." in prompt
    assert await said(client, used) == TURN


async def test_only_what_is_new_is_remembered_again(open_proxy, tenant, client):
    url, used = await open_proxy()
    chat = talker(url, tenant.key)
    await answered(chat, False, messages=[MOVED], user="42")
    await used.afterwards.settled()
    more = [MOVED, {"role": "assistant", "content": "How nice!"}, {"role": "user", "content": "And in June to Rome."}]
    await answered(chat, True, messages=more, user="42")
    assert await said(client, used) == [*TURN, ("user", "And in June to Rome."), ("assistant", "How nice!")]


async def test_a_call_of_a_tool_is_no_answer_yet(open_proxy, model, tenant, client):
    url, used = await open_proxy()
    chat = talker(url, tenant.key)
    call = {"id": "t1", "type": "function", "function": {"name": "map", "arguments": "{}"}}
    model.messages = [{"content": "Let me see.", "tool_calls": [call]}]
    first = await chat.chat.completions.create(model="m", messages=[MOVED], user="42")
    assert first.choices[0].message.tool_calls[0].function.name == "map"
    model.events = [chunk({"tool_calls": [{"index": 0, **call}]})]
    assert await answered(chat, True, messages=[MOVED], user="42") == ""
    assert await said(client, used) == []
    model.messages = [{"content": "How nice!"}]
    result = {"role": "tool", "tool_call_id": "t1", "content": "Turin is in Piedmont."}
    calling = {"role": "assistant", "content": "Let me see.", "tool_calls": [call]}
    await answered(chat, False, messages=[MOVED, calling, result], user="42")
    assert await said(client, used) == TURN


async def test_of_several_choices_the_first_is_remembered(open_proxy, model, tenant, client):
    url, used = await open_proxy()
    model.messages = [{"content": "How nice!"}, {"content": "Why?"}]
    reply = await talker(url, tenant.key).chat.completions.create(model="m", messages=[MOVED], user="42", n=2)
    assert [choice.message.content for choice in reply.choices] == ["How nice!", "Why?"]
    assert await said(client, used) == TURN


async def test_a_stream_that_is_broken_off_is_remembered_as_far_as_it_came(open_proxy, model, tenant, client):
    model.hangs_after = 2
    url, used = await open_proxy()
    stream = await talker(url, tenant.key).chat.completions.create(model="m", messages=[MOVED], user="42", stream=True)
    async for event in stream:
        if event.choices[0].delta.content == "How ":
            break
    await stream.close()
    await asyncio.wait_for(model.cancelled.wait(), 30)
    for _ in range(1000):
        if found := await said(client, used):
            break
        await asyncio.sleep(0.01)
    assert found == [TURN[0], ("assistant", "How ")]


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])
async def test_a_caller_that_does_not_wait_stops_the_model(open_proxy, model, *, tenant, client, streams):
    model.thinks = True
    url, used = await open_proxy()
    chat = talker(url, tenant.key).with_options(timeout=1.0)
    with pytest.raises(openai.APITimeoutError):
        await answered(chat, streams, messages=[MOVED], user="42")
    await asyncio.wait_for(model.cancelled.wait(), 30)
    assert await said(client, used) == []


async def test_a_model_server_that_breaks_off_breaks_the_answer_off(open_proxy, model, tenant, client):
    """The caller hears that it is not the end; what came is remembered, as the person saw it."""
    model.breaks_after = 2
    url, used = await open_proxy()
    with pytest.raises((openai.APIError, httpx2.HTTPError)):
        await answered(talker(url, tenant.key), True, messages=[MOVED], user="42")
    assert await said(client, used) == [TURN[0], ("assistant", "How ")]


@pytest.mark.parametrize("status", [400, 401, 429, 500])
async def test_what_the_model_server_refuses_is_passed_on_and_not_remembered(
    open_proxy, model, *, tenant, client, status
):
    body = {"error": {"message": "no", "type": "t", "code": "c"}}
    model.refusal = JSONResponse(body, status, headers={"Retry-After": "7"})
    url, used = await open_proxy()
    with pytest.raises(openai.APIStatusError) as raised:
        await answered(talker(url, tenant.key), False, messages=[MOVED], user="42")
    assert raised.value.status_code == status
    assert raised.value.response.json() == body
    assert raised.value.response.headers["retry-after"] == "7"
    assert await said(client, used) == []


async def test_a_model_server_that_is_down_is_a_problem_of_its_own(open_proxy, tenant):
    async with open_upstream_client() as nobody:
        url, _ = await open_proxy(upstream=Upstream(nobody, "http://127.0.0.1:1/v1/chat/completions"))
        with pytest.raises(openai.InternalServerError) as raised:
            await answered(talker(url, tenant.key), False, messages=[MOVED], user="42")
    assert raised.value.status_code == 502
    assert raised.value.response.json()["type"] == "urn:ricordo:problem:upstream-unavailable"


async def test_without_a_model_server_there_is_no_such_route(open_proxy, tenant):
    url, _ = await open_proxy(upstream=None)
    with pytest.raises(openai.NotFoundError):
        await answered(talker(url, tenant.key), False, messages=[MOVED], user="42")


@pytest.mark.parametrize(
    ("headers", "user", "field"),
    [
        ({}, None, "X-Ricordo-Space"),
        ({"X-Ricordo-Space": "nowhere"}, None, "X-Ricordo-Space"),
        ({"X-Ricordo-Persona": "x"}, "42", "X-Ricordo-Persona"),
        ({"X-Ricordo-Scopes": "x"}, "42", "X-Ricordo-Scopes"),
        ({"X-Ricordo-Session": "x" * 201}, "42", "X-Ricordo-Session"),
    ],
)
async def test_a_wrong_header_is_named(open_proxy, model, *, tenant, headers, user, field):
    url, _ = await open_proxy()
    given = {} if user is None else {"user": user}
    with pytest.raises(openai.UnprocessableEntityError) as raised:
        await answered(talker(url, tenant.key, **headers), False, messages=[MOVED], **given)
    assert [error["field"] for error in raised.value.response.json()["errors"]] == [field]
    assert model.asked == []


async def test_a_long_or_odd_message_is_passed_on_whole(open_proxy, model, tenant, client):
    await client.post("/memories", json={"space": "user:42", "text": "Call me Ada.", **PREFERENCE})
    url, used = await open_proxy()
    long = "a\0b " + "word " * 10_000
    parts = [
        {"type": "text", "text": "See this."},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,"}},
    ]
    messages = [{"role": "user", "content": long}, {"role": "user", "content": parts}]
    await answered(talker(url, tenant.key), False, messages=messages, user="42")
    assert model.asked[0]["messages"][-2:] == messages
    kept = await said(client, used)
    assert [len(kept[0][1]), kept[1][1]] == [20_000, "See this."]


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{", b'{"messages": 3, "user": "42"}', b'{"messages": [3], "user": "4"}']
)
async def test_what_is_no_chat_is_left_to_the_model_server(open_proxy, model, tenant, body):
    model.refusal = JSONResponse({"error": "no"}, 400)
    url, _ = await open_proxy()
    async with httpx.AsyncClient() as http:
        headers = {"X-Ricordo-Key": tenant.key, "X-Ricordo-Space": "user:42"}
        reply = await http.post(f"{url}/chat/completions", content=body, headers=headers)
    assert reply.status_code in (400, 500)


async def test_a_foreign_key_reaches_nothing(open_proxy, model, *, client, tenant, new_tenant):
    """leak-04, through the proxy: neither another tenant nor another space is read or written."""
    text = "The secret is xylophone."
    await client.post("/memories", json={"space": "user:42", "text": text, **PREFERENCE})
    url, used = await open_proxy()
    await answered(talker(url, new_tenant().key), False, messages=[MOVED], user="42")
    assert "xylophone" not in json.dumps(model.asked)
    limited = talker(url, tenant.issue(Role.WRITER, ("user:other",)))
    for headers, user in [
        ({}, "42"),
        ({"X-Ricordo-Persona": "user:42"}, "other"),
        ({"X-Ricordo-Also-Read": "user:42"}, "other"),
    ]:
        with pytest.raises(openai.PermissionDeniedError):
            await answered(
                limited.with_options(default_headers={**limited._custom_headers, **headers}),
                False,
                messages=[MOVED],
                user=user,
            )
    with pytest.raises(openai.AuthenticationError):
        await answered(talker(url, "rk_unknown"), False, messages=[MOVED], user="42")
    assert await said(client, used) == []


async def test_a_readers_chat_is_answered_and_not_remembered(open_proxy, tenant, client):
    url, used = await open_proxy()
    assert await answered(talker(url, tenant.issue(Role.READER)), False, messages=[MOVED], user="42") == "How nice!"
    assert await said(client, used) == []


async def test_a_turn_is_stored_when_the_database_is_back(open_proxy, runtime, tenant, client):
    class Turns:
        failures = 3

        async def post(self, *arguments):
            self.failures -= 1
            if self.failures >= 0:
                raise UnavailableError("the database does not answer")
            return await runtime.turns.post(*arguments)

    url, used = await open_proxy(turns=Turns())
    assert await answered(talker(url, tenant.key), True, messages=[MOVED], user="42") == "How nice!"
    assert await said(client, used) == TURN


async def test_a_turn_whose_storing_was_not_heard_of_is_stored_once(open_proxy, runtime, tenant, client):
    class Turns:
        deaf = 2

        async def post(self, *arguments):
            posted = await runtime.turns.post(*arguments)
            self.deaf -= 1
            if self.deaf >= 0:
                raise UnavailableError("the database's answer was lost")
            return posted

    url, used = await open_proxy(turns=Turns())
    await answered(talker(url, tenant.key), True, messages=[MOVED], user="42")
    await answered(talker(url, tenant.key), False, messages=[MOVED], user="42")  # generated again: another turn
    assert await said(client, used) == [*TURN, *TURN]


async def test_a_turn_that_cannot_be_stored_is_told_of_without_its_words(open_proxy, tenant):
    class Turns:
        async def post(self, *_):
            raise psycopg.errors.UniqueViolation("Key (text)=(I moved to Turin in May.) already exists.")

    url, used = await open_proxy(turns=Turns())
    with logged() as log:
        assert await answered(talker(url, tenant.key), False, messages=[MOVED], user="42") == "How nice!"
        await used.afterwards.settled()
    assert '"event": "a turn was not stored"' in log.getvalue()
    assert "Turin" not in log.getvalue()


async def test_with_the_database_down_the_chat_goes_on(model, tmp_path):
    """A real database that is stopped under a running service; a key that was never seen, too."""
    key = new_secret()
    server = embedded.start(tmp_path / "data")
    async with served(model.app) as url:
        settings = {"database_url": server.url, "data_dir": tmp_path, "worker": "none", "upstream_url": f"{url}/v1"}
        async with open_runtime(Settings.model_validate(settings)) as opened, served(create_app(opened)) as address:
            ensure_key(server.url, "default", key, new_uuid(), NewKey("test", Role.WRITER))
            chat = talker(f"{address}/v1", key)
            assert await answered(chat, False, messages=[MOVED], user="42") == "How nice!"
            await opened.afterwards.settled()
            await asyncio.to_thread(server.stop)
            for used in (key, new_secret()):
                stream = await talker(f"{address}/v1", used).chat.completions.with_raw_response.create(
                    model="m", messages=[MOVED], user="42"
                )
                assert stream.parse().choices[0].message.content == "How nice!"
                assert "store" in stream.headers["x-ricordo-degraded"]


async def test_the_callers_key_is_neither_stored_nor_logged(
    open_proxy, model, *, tenant, client, database_url, monkeypatch
):
    url, used = await open_proxy()
    with logged() as log:
        chat = talker(url, tenant.key)
        await answered(chat, True, messages=[MOVED], user="42")
        await used.afterwards.settled()
        model.refusal = JSONResponse({"error": {"message": "no"}}, 401)
        with pytest.raises(openai.AuthenticationError):
            await answered(chat, False, messages=[MOVED], user="42")
    assert '"route": "/v1/chat/completions"' in log.getvalue()
    for secret in (THEIR_KEY, tenant.key, "Turin", "How nice"):
        assert secret not in log.getvalue()
    async with await psycopg.AsyncConnection.connect(database_url) as connection:
        tables = await (await connection.execute(TABLES)).fetchall()
        assert len(tables) > 10
        for (table,) in tables:
            found = await connection.execute(f"SELECT count(*) FROM {table} t WHERE t::text LIKE '%{THEIR_KEY}%'")
            assert (await found.fetchone())[0] == 0


async def test_a_chat_that_names_lore_is_answered_and_becomes_none(open_proxy, model, tenant, client):
    """Whatever the key may do: what is said is not canon."""
    url, used = await open_proxy()
    for streams in (False, True):
        chat = talker(url, tenant.key, **{"X-Ricordo-Space": "lore:giulia"})
        assert await answered(chat, streams, messages=[MOVED]) == "How nice!"
    await used.afterwards.settled()
    await used.queue.drain()
    assert await said(client, used, "lore:giulia") == []
    for tier in ("memories", "episodes"):
        assert (await client.get(f"/{tier}", params={"space": "lore:giulia"})).json()["items"] == []
