"""Keys, tokens and roles: who may come in, for how long, and how far."""

import asyncio
from datetime import datetime, timedelta

import pytest
from routes import routes_of
from typer.testing import CliRunner

from app.cli import app as command
from app.domain.callers import Caller, NewKey, Role
from app.domain.errors import ForbiddenError
from app.runtime import new_secret, new_uuid
from app.store.keys import ensure_key, tenant_id_of

SPACE = "user:1"


def issue(tenant, **fields):
    key = new_secret()
    wanted = NewKey(**{"name": "test", "role": Role.ADMINISTRATOR, **fields})
    ensure_key(tenant.database_url, tenant.name, key, new_uuid(), wanted)
    return key


async def revoke(runtime, tenant, key):
    assert await runtime.keys.revoke(tenant_id_of(tenant.name), key)


@pytest.fixture
async def bad_headers(runtime, tenant):
    """Authorization headers that open nothing."""
    revoked, expired = issue(tenant), issue(tenant, lifetime_s=-1)
    await revoke(runtime, tenant, revoked)
    return {
        "missing": {},
        "empty": {"Authorization": ""},
        "no scheme": {"Authorization": tenant.key},
        "another scheme": {"Authorization": f"Basic {tenant.key}"},
        "no key": {"Authorization": "Bearer "},
        "malformed": {"Authorization": "Bearer rk_short"},
        "blanks": {"Authorization": f"Bearer {tenant.key} {tenant.key}"},
        "not ascii": {"Authorization": "Bearer rk_" + "\u00fc" * 60},
        "unknown": {"Authorization": f"Bearer {new_secret()}"},
        "another end": {"Authorization": f"Bearer {tenant.key[:-4]}0000"},
        "revoked": {"Authorization": f"Bearer {revoked}"},
        "expired": {"Authorization": f"Bearer {expired}"},
    }


def encoded(headers):
    return [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]


async def test_every_route_refuses_every_key_that_is_not_valid(app, client, bad_headers):
    del client.headers["Authorization"]
    routes = [(method, path) for method, path in routes_of(app) if path.startswith("/api/")]
    assert len(routes) > 40
    for method, path in routes:
        for name, headers in bad_headers.items():
            reply = await client.request(method, f"http://test{path}", headers=encoded(headers))
            assert reply.status_code == 401, (method, path, name)
            assert reply.headers["WWW-Authenticate"].startswith("Bearer")
            assert reply.headers["Content-Type"] == "application/problem+json"


async def test_without_a_key_nothing_is_looked_at(client):
    del client.headers["Authorization"]
    for path in ("/memories", "/no/such/route", "http://test/", "http://test/nowhere", "http://test/redoc"):
        assert (await client.post(path, content=b"{no json")).status_code == 401
    assert (await client.put("/memories")).status_code == 401


async def test_only_health_metrics_the_api_page_and_the_inspector_answer_without_a_key(app, client):
    del client.headers["Authorization"]
    without = {path for method, path in routes_of(app) if not path.startswith(("/api/", "/v1/", "/mcp"))}
    pages = {"/inspector", "/inspector/{name:path}"}
    assert without == {"/health/live", "/health/ready", "/metrics", "/docs", "/openapi.json"} | pages
    for path in ("/mcp", "/v1/chat/completions"):
        assert (await client.post(f"http://test{path}", json={})).status_code == 401
    for path in without:
        url = f"http://test{path}".replace("{name:path}", "app.js")
        assert (await client.get(url, follow_redirects=True)).status_code == 200
    for path in ("/healthy", "/metrics2", "/docs2", "/openapi.json2", "/inspector2", "/health/../api/v1/spaces"):
        assert (await client.get(f"http://test{path}")).status_code == 401


async def test_a_revoked_key_is_refused_at_once(runtime, tenant, connect):
    key = issue(tenant)
    client = connect(key)
    assert (await client.get("/spaces")).status_code == 200
    await revoke(runtime, tenant, key)
    assert (await client.get("/spaces")).status_code == 401


async def test_a_key_is_refused_from_the_moment_it_expires(tenant, connect):
    client = connect(issue(tenant, lifetime_s=0.5))
    assert (await client.get("/spaces")).status_code == 200
    async with asyncio.timeout(5):
        while (await client.get("/spaces")).status_code != 401:  # noqa: ASYNC110 - time itself is waited for
            await asyncio.sleep(0.05)


async def test_a_token_reaches_its_space_and_no_other(client, connect):
    await client.post("/memories", json={"space": "user:2", "text": "I like tea."})
    made = await client.post("/tokens", json={"space": SPACE, "role": "writer"})
    assert made.status_code == 201
    assert made.json().keys() == {"token", "space", "role", "expires_at"}
    token = connect(made.json()["token"])
    assert (await token.post("/memories", json={"space": SPACE, "text": "I like tea."})).status_code == 201
    assert (await token.post("/memories", json={"space": "user:2", "text": "x"})).status_code == 403
    assert (await token.get("/memories", params={"space": "user:2"})).status_code == 403
    assert [item["name"] for item in (await token.get("/spaces")).json()["items"]] == [SPACE]


async def test_a_key_is_told_what_it_may_do(client, connect, tenant):
    own = (await client.get("/tokens/current")).json()
    assert own == {"role": "administrator", "spaces": None, "expires_at": None}
    two = connect(tenant.issue(Role.EDITOR, ("user:2", "user:1")))
    told = {"role": "editor", "spaces": ["user:1", "user:2"], "expires_at": None}
    assert (await two.get("/tokens/current")).json() == told
    made = (await client.post("/tokens", json={"space": SPACE, "role": "reader", "minutes": 1})).json()
    of_token = (await connect(made["token"]).get("/tokens/current")).json()
    assert of_token == {"role": "reader", "spaces": [SPACE], "expires_at": made["expires_at"]}
    assert (await connect("rk_unknown").get("/tokens/current")).status_code == 401


async def test_a_readers_token_reads_only(client, connect):
    made = await client.post("/tokens", json={"space": SPACE, "role": "reader", "minutes": 1})
    token = connect(made.json()["token"])
    assert (await token.get("/memories", params={"space": SPACE})).status_code == 200
    assert (await token.post("/memories", json={"space": SPACE, "text": "x"})).status_code == 403
    assert (await token.post("/tokens", json={"space": SPACE, "role": "reader"})).status_code == 403


async def test_a_token_lasts_as_long_as_it_says(client):
    for minutes in (1, 60, 1440):
        body = {"space": SPACE, "role": "reader", "minutes": minutes}
        now = datetime.fromisoformat(
            (await client.post("/memories", json={"space": SPACE, "text": "x"})).json()["recorded_at"]
        )
        expires = datetime.fromisoformat((await client.post("/tokens", json=body)).json()["expires_at"])
        assert timedelta(0) <= expires - now - timedelta(minutes=minutes) < timedelta(seconds=30)


async def test_a_token_gives_no_more_than_the_key_that_made_it(tenant, connect):
    writer = connect(issue(tenant, role=Role.WRITER, spaces=(SPACE,), lifetime_s=120))
    assert (await writer.post("/tokens", json={"space": "user:2", "role": "reader"})).status_code == 403
    made = (await writer.post("/tokens", json={"space": SPACE, "role": "writer", "minutes": 1440})).json()
    again = (await connect(made["token"]).post("/tokens", json={"space": SPACE, "role": "writer"})).json()
    assert made["expires_at"] == again["expires_at"]


@pytest.mark.parametrize(
    "body",
    [
        {"space": SPACE},
        {"space": SPACE, "role": "editor"},
        {"space": SPACE, "role": "administrator"},
        {"space": SPACE, "role": "reader", "minutes": 0},
        {"space": SPACE, "role": "reader", "minutes": 1441},
        {"space": SPACE, "role": "reader", "minutes": "60"},
        {"space": "nonsense", "role": "reader"},
        {"role": "reader"},
    ],
)
async def test_a_token_that_makes_no_sense_is_refused(client, body):
    assert (await client.post("/tokens", json=body)).status_code == 422


def test_a_caller_gives_a_token_of_at_most_its_own_role():
    reader, writer = (Caller(tenant_id_of("t"), role) for role in (Role.READER, Role.WRITER))
    assert writer.token(SPACE, Role.READER, 60).role is Role.READER
    for caller, role in ((reader, Role.READER), (writer, Role.EDITOR)):
        with pytest.raises(ForbiddenError):
            caller.token(SPACE, role, 60)


async def ricordo(*arguments):
    return await asyncio.to_thread(CliRunner().invoke, command, ["keys", *arguments])


@pytest.fixture
def settings(monkeypatch, database_url):
    monkeypatch.setenv("RICORDO_DATABASE_URL", database_url)


async def test_a_key_made_by_the_command_opens_what_it_says(settings, connect):
    """The service runs meanwhile."""
    made = await ricordo(
        *("create", "--role", "writer", "--name", "bot", "--tenant", "acme"),
        *("--space", "user:1", "--space", "viewer:twitch:@ANA", "--days", "3"),
    )
    assert made.exit_code == 0, made.output
    key = made.stdout.strip()
    client = connect(key)
    for space in ("user:1", "viewer:twitch:@ana"):
        assert (await client.post("/memories", json={"space": space, "text": "x"})).status_code == 201
    assert (await client.post("/memories", json={"space": "user:3", "text": "x"})).status_code == 403

    listed = await ricordo("list", "--tenant", "acme")
    (line,) = listed.stdout.splitlines()
    assert key not in listed.stdout
    assert line.split("\t")[:4] == [key[:12], "writer", "bot", "user:1 viewer:twitch:@ana"]
    assert "expires" in line

    revoked = await ricordo("revoke", key[:12], "--tenant", "acme")
    assert revoked.exit_code == 0
    assert "revoked" in (await ricordo("list", "--tenant", "acme")).stdout
    assert (await ricordo("revoke", key[:12], "--tenant", "acme")).exit_code == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("create", "--role", "king", "--name", "x"),
        ("create", "--role", "reader", "--name", "x", "--space", "nonsense"),
        ("create", "--role", "reader", "--name", "x", "--days", "0"),
        ("create", "--role", "reader"),
        ("list", "--tenant", "nobody-has-this-name"),
        ("revoke", "rk_unknown", "--tenant", "nobody-has-this-name"),
        ("revoke", "rk_unknown"),
    ],
)
async def test_a_command_that_makes_no_sense_says_so(settings, arguments):
    result = await ricordo(*arguments)
    assert result.exit_code in (1, 2)
    assert result.output
