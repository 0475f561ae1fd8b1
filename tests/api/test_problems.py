"""Every type of error that the API page lists is caused here, and answered as the page says."""

import re
from dataclasses import replace
from types import SimpleNamespace
from typing import get_args

import httpx
import pytest

from app.domain.callers import Role
from app.domain.errors import UnavailableError
from app.llm.upstream import Upstream, open_upstream_client
from app.main import create_app
from app.schemas.problems import ProblemType
from tests.docs.blocks import ROOT

SPACE = "user:problem"
MEMORY = {"space": SPACE, "text": "I play chess"}
PREFIX = "urn:ricordo:problem:"


async def unavailable(*_args, **_kwargs):
    raise UnavailableError("the database does not answer")


async def crash(*_args, **_kwargs):
    raise KeyError("nobody foresaw it")


@pytest.fixture
async def causes(runtime, tenant):
    """What causes each error."""
    app = create_app(runtime)
    async with open_upstream_client() as nobody:
        upstream = Upstream(nobody, "http://127.0.0.1:1/v1/chat/completions")
        app.state.runtime = replace(runtime, upstream=upstream)
        transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
        headers = {"Authorization": f"Bearer {tenant.key}"}
        async with httpx.AsyncClient(transport=transport, base_url="http://test/api/v1", headers=headers) as client:
            yield causes_of(client, tenant, app, runtime)


def causes_of(client, tenant, app, runtime):
    reader = {"Authorization": f"Bearer {tenant.issue(Role.READER)}"}

    async def made() -> str:
        return f"/memories/{(await client.post('/memories', json=MEMORY)).json()['id']}"

    async def conflict():
        path = await made()
        return await client.post(f"{path}/undo")

    async def idempotency():
        key = {"Idempotency-Key": "one"}
        await client.post("/memories", json=MEMORY, headers=key)
        return await client.post("/memories", json={**MEMORY, "text": "I row"}, headers=key)

    async def precondition():
        path = await made()
        return await client.patch(path, json={"text": "I row"}, headers={"If-Match": '"9"'})

    async def broken(part):
        app.state.runtime = replace(runtime, spaces=SimpleNamespace(listing=part))
        return await client.get("/spaces")

    chat = {"model": "any", "messages": [{"role": "user", "content": "Hello"}]}
    ours = {"X-Ricordo-Key": tenant.key, "X-Ricordo-Space": SPACE}
    return {
        "invalid-input": lambda: client.post("/memories", json={**MEMORY, "mood": "good"}),
        "malformed-json": lambda: client.post("/memories", content=b"{", headers={"Content-Type": "application/json"}),
        "unauthenticated": lambda: client.get("/spaces", headers={"Authorization": "Bearer rk_wrong"}),
        "forbidden": lambda: client.post("/memories", json=MEMORY, headers=reader),
        "not-found": lambda: client.get("/nowhere"),
        "method-not-allowed": lambda: client.put("/memories"),
        "conflict": conflict,
        "idempotency-conflict": idempotency,
        "precondition-failed": precondition,
        "too-large": lambda: client.post("/memories", content=b" " * ((32 << 20) + 1)),
        "upstream-unavailable": lambda: client.post("http://test/v1/chat/completions", json=chat, headers=ours),
        "unavailable": lambda: broken(unavailable),
        "internal": lambda: broken(crash),
    }


async def test_every_error_is_caused_and_answered_as_the_page_says(causes):
    assert causes.keys() == {kind.removeprefix(PREFIX) for kind in get_args(ProblemType)}
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    listed = dict(re.findall(r"^\| `([a-z-]+)` \| (\d{3}) \|", page, re.MULTILINE))
    assert listed.keys() == causes.keys()
    for code, cause in causes.items():
        reply = await cause()
        problem = reply.json()
        assert reply.headers["content-type"] == "application/problem+json", code
        assert (problem["type"], str(reply.status_code)) == (PREFIX + code, listed[code])
        assert problem["status"] == reply.status_code
        assert problem["title"]
        assert problem["detail"]
        assert ("errors" in problem) == (code == "invalid-input")
