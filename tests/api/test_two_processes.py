"""Two processes over one store: what one of them writes, the other one's next live prompt has at once."""

import httpx
import pytest
from test_live import STREAM, live, remembers, says, under, viewer

from loadtests.service import BUNDLED, running

LORE = "lore:giulia"
ASKS = says("ana", "Giulia, what do you remember about my dog?")


@pytest.fixture
async def other(database_url, tenant, tmp_path):
    """A client of another process, of the same tenant."""
    settings = {"RICORDO_DATABASE_URL": database_url, "RICORDO_WORKER": "none"}
    with running(tmp_path, BUNDLED, settings) as service:
        url, headers = f"http://127.0.0.1:{service.port}/api/v1", {"Authorization": f"Bearer {tenant.key}"}
        async with httpx.AsyncClient(base_url=url, headers=headers, timeout=60) as client:
            yield client


async def test_what_one_process_writes_the_others_next_prompt_has(client, other):
    """Both have the space in memory; nothing waits for a lifetime to end."""
    await remembers(client, viewer("ana"), "My dog is called Rex.", "My dog sleeps in the boat.")
    await remembers(client, LORE, "The harbour is old.")

    async def told(process):
        return under((await live(process, ASKS))["prompt"], viewer("ana"))

    for process in (client, other, client, other):
        assert "Rex" in await told(process)

    corrected = {"space": viewer("ana"), "said": "My dog is called Max, not Rex."}
    assert (await client.post("/corrections", json=corrected)).status_code in (200, 201)
    assert "Max" in await told(other)
    assert "called Rex" not in await told(other)

    forgotten = {"space": viewer("ana"), "content": "My dog sleeps in the boat."}
    assert (await other.post("/forget", json=forgotten)).status_code == 200
    assert "boat" not in await told(client)

    record = {
        "space": STREAM,
        "kind": "note",
        "subjects": [viewer("ana")],
        "payload": {"text": "My dog is called Tom."},
    }
    made = (await client.post("/records", json=record)).json()
    prompt = (await live(other, ASKS))["prompt"]
    assert "called Tom" in prompt
    await client.delete(f"/records/{made['id']}")
    assert "called Tom" not in (await live(other, ASKS))["prompt"]

    about_zorba = says("ana", "Giulia, tell us about Zorba")
    assert "parrot" not in (await live(other, about_zorba, lore=[LORE]))["prompt"]
    await remembers(client, LORE, "Her parrot is called Zorba.")
    assert "parrot" in (await live(other, about_zorba, lore=[LORE]))["prompt"]

    assert (await client.delete(f"/spaces/{viewer('ana')}")).status_code == 200
    assert await told(other) == ""
