"""The snippets that the playground copies are run as they stand, and give the prompt that is shown."""

import asyncio
import json
import os
import sys
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.browser.test_playground import address, prompt_of

ROOT = Path(__file__).parents[2]

WEIGHTS = {"relevance": 0.5, "importance": 0.2, "recency": 0.1, "frequency": 0.1, "confidence": 0.1}
OVERRIDES = "".join(f"&overrides.weights.{signal}={share}" for signal, share in WEIGHTS.items())
HISTORY = json.dumps([{"author": "Ada", "text": "It's \"Lucia's\" $HOME, c'è `id` \\n", "at": "2026-03-01T12:00:00Z"}])
BATCH = json.dumps([{"author": {"platform": "chat", "id": "ana", "name": "Ana"}, "text": "What do I like? 'quoted' è"}])

QUERY = 'What do I cook? I\'m at $HOME; `id` "è"'

PERSON = (
    f"/playground?space=user:ada&persona=agent:nonna&query={quote(QUERY)}"
    f"&history={quote(HISTORY)}&as_of=2027-01-01T10:00:00.000Z&format=markdown{OVERRIDES}"
    f"&overrides.tag_boosts={quote(json.dumps({'food': 2.5}))}&overrides.budget_tokens.memories=900&timeout_ms=30000"
)
LIVE = f"/playground?stream=stream:chat:x&persona=agent:nonna&batch={quote(BATCH)}&viewers=2&timeout_ms=30000"


@pytest.fixture
async def ana(client) -> None:
    reply = await client.post("/memories", json={"space": "viewer:chat:ana", "text": "I like bitter chocolate."})
    assert reply.status_code == 201


@pytest.mark.parametrize("view", [PERSON, LIVE], ids=["person", "live"])
@pytest.mark.usefixtures("kitchen", "ana")
async def test_the_copied_shell_command_gives_the_prompt_that_is_shown(open_page, url, tenant, view):
    shown, copied = await copied_from(open_page, address(url, view, tenant.key), "Copy as curl")
    assert shown.strip()
    answered = await run(["sh", "-c", copied], tenant.key)
    assert json.loads(answered)["prompt"] == shown


@pytest.mark.parametrize("view", [PERSON, LIVE], ids=["person", "live"])
@pytest.mark.usefixtures("kitchen", "ana")
async def test_the_copied_python_gives_the_prompt_that_is_shown(open_page, url, tenant, view):
    shown, copied = await copied_from(open_page, address(url, view, tenant.key), "Copy as Python")
    assert max(map(len, copied.splitlines())) <= 120
    answered = await run([sys.executable, "-c", copied], tenant.key)
    assert answered.removesuffix("\n") == shown


async def copied_from(open_page, place: str, button: str) -> tuple[str, str]:
    """The prompt that is shown, and the text that the button copies."""
    page = await open_page(permissions=["clipboard-read", "clipboard-write"])
    await page.goto(place)
    shown = await prompt_of(page)
    await page.get_by_role("button", name=button).click()
    await page.get_by_text("Copied").wait_for()
    return shown, await page.evaluate("navigator.clipboard.readText()")


async def run(command: list[str], key: str) -> str:
    """What a command prints; it finds the key where the snippets look for it."""
    path = os.pathsep.join((str(ROOT / "clients/python"), *filter(None, [os.environ.get("PYTHONPATH")])))
    environment = {**os.environ, "RICORDO_API_KEY": key, "PYTHONPATH": path, "PYTHONIOENCODING": "utf-8"}
    process = await asyncio.create_subprocess_exec(
        *command, env=environment, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    return out.decode()
