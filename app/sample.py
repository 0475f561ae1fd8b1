"""The sample store: filled through the public API, then asked a question."""

import json
from pathlib import Path
from typing import Any

import httpx
import typer

from app.runtime import first_key
from app.settings import Settings

_ROUTES = ("soul", "memories", "episodes", "procedures")


async def show_sample(url: str, settings: Settings, folder: Path) -> None:
    """Fill the store from `folder/store.json` unless it is filled, then print an assembled prompt.

    Args:
        url: Where the service listens.
        folder: Holds `store.json` (bodies by resource) and `question.json` (a body of the main call).
    """
    key = settings.api_key.get_secret_value() if settings.api_key else first_key(settings.data_dir)
    store = json.loads((folder / "store.json").read_text(encoding="utf-8"))
    question = json.loads((folder / "question.json").read_text(encoding="utf-8"))
    async with httpx.AsyncClient(
        base_url=f"{url}/api/v1", headers={"Authorization": f"Bearer {key}"}, timeout=60
    ) as client:
        if await _is_empty(client, question["space"]):
            await _fill(client, store)
        reply = await client.post("/context/assemble", json=question)
        reply.raise_for_status()
        assembled = reply.json()
    typer.echo(f"\nThe prompt for “{question['query']}” ({assembled['tokens']['total']} tokens):\n")
    typer.echo(assembled["prompt"])
    typer.echo("Ask for it yourself:\n")
    typer.echo(
        f"  curl -s {url}/api/v1/context/assemble -H 'Authorization: Bearer {key}' \\\n"
        f"    -H 'Content-Type: application/json' -d '{json.dumps(question, ensure_ascii=False)}'\n"
    )


async def _is_empty(client: httpx.AsyncClient, space: str) -> bool:
    reply = await client.get("/memories", params={"space": space, "limit": 1})
    reply.raise_for_status()
    return not reply.json()["items"]


async def _fill(client: httpx.AsyncClient, store: dict[str, list[dict[str, Any]]]) -> None:
    for route in _ROUTES:
        for body in store.get(route, []):
            (await client.post(f"/{route}", json=body)).raise_for_status()
