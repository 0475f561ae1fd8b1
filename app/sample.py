"""The sample store: filled through the public API, then asked a question."""

import json
import re
import shlex
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import typer

from app.runtime import first_key, key_path
from app.schemas.common import wire_time
from app.settings import Settings

_DAYS_AGO = re.compile(r"(\d+) days? ago")
_TIMEOUT_SECONDS = 60


class SampleError(Exception):
    """The sample cannot be read, or the service does not take it."""


async def show_sample(url: str, settings: Settings, folder: Path, now: datetime) -> None:
    """Fill the store from `folder/store.json` unless it is filled, then print an assembled prompt.

    Args:
        url: Where the service listens.
        folder: Holds `store.json` and `question.json` (a body of the main call).
        now: What "3 days ago" counts from.

    Raises:
        SampleError: If a file cannot be read, or the service refuses what is in it.
    """
    key = settings.api_key.get_secret_value() if settings.api_key else first_key(settings.data_dir)
    store, question = _read(folder / "store.json"), _read(folder / "question.json")
    headers = {"Authorization": f"Bearer {key}"}
    try:
        async with httpx.AsyncClient(
            base_url=f"{url}/api/v1", headers=headers, timeout=_TIMEOUT_SECONDS, trust_env=False
        ) as client:
            await _fill(client, store, now)
            assembled = await _call(client, "POST", "/context/assemble", json=question)
    except httpx.TransportError as error:
        raise SampleError(f"the service at {url} does not answer: {error}") from error
    typer.echo(f"\nThe system prompt for “{question['query']}”, {assembled['tokens']['total']} tokens:\n")
    typer.echo(assembled["prompt"])
    typer.echo("Ask for it yourself:\n")
    typer.echo(f"{_curl(url, key, question)}\n")
    typer.echo("Or see why, in the inspector:\n")
    typer.echo(f"  {url}/inspector#key={key}\n")
    where = "RICORDO_API_KEY" if settings.api_key else f"{key_path(settings.data_dir)} (mode 0600)"
    typer.echo(f"The key is an administrator's; it is kept in {where}.")


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SampleError(f"cannot read {path}: {error}") from error


def _curl(url: str, key: str, question: dict[str, Any]) -> str:
    """The same call as one shell command."""
    body = shlex.quote(json.dumps(question, ensure_ascii=False))
    return (
        f"  curl -s {url}/api/v1/context/assemble \\\n"
        f"    -H 'Authorization: Bearer {key}' -H 'Content-Type: application/json' \\\n"
        f"    -d {body}"
    )


async def _fill(client: httpx.AsyncClient, store: list[dict[str, Any]], now: datetime) -> None:
    """Write the batches in their order, each whole or not at all, unless the last of them is there.

    So a start that was cut short is made good by the next one, and what somebody erased does not come back.
    """
    if await _items(client, store[-1]):
        return
    for batch in store:
        entries = [{name: _dated(value, now) for name, value in entry.items()} for entry in batch["entries"]]
        present = await _items(client, batch)
        if batch["resource"] == "soul":
            names = {block["name"] for block in present}
            for block in entries:
                if block["name"] not in names:
                    await _call(client, "POST", "/soul", json={"space": batch["space"], **block})
        elif not present:
            await _write(client, batch, entries)


async def _items(client: httpx.AsyncClient, batch: dict[str, Any]) -> list[dict[str, Any]]:
    """What the batch's space holds of its resource: all soul blocks, or one entry of any status."""
    query = {"space": batch["space"]} | ({} if batch["resource"] == "soul" else {"limit": 1, "status": "any"})
    page = await _call(client, "GET", f"/{batch['resource']}", params=query)
    items: list[dict[str, Any]] = page["items"]
    return items


async def _write(client: httpx.AsyncClient, batch: dict[str, Any], entries: list[dict[str, Any]]) -> None:
    body = {"space": batch["space"], "entries": entries}
    written = await _call(client, "POST", f"/{batch['resource']}/batch", json=body)
    refused = [item for item in written["items"] if item["status"] != httpx.codes.CREATED]
    if refused:
        raise SampleError(f"the service refuses {batch['resource']} of the sample: {refused[0]['errors']}")


def _dated(value: Any, now: datetime) -> Any:
    """A moment for “3 days ago”, so that what is recent in the sample stays recent."""
    found = _DAYS_AGO.fullmatch(value) if isinstance(value, str) else None
    return wire_time(now - timedelta(days=int(found[1]))) if found else value


async def _call(client: httpx.AsyncClient, method: str, path: str, **arguments: Any) -> Any:
    reply = await client.request(method, path, **arguments)
    if reply.is_error:
        raise SampleError(f"{method} {path} of the sample was answered with {reply.status_code}: {reply.text}")
    return reply.json()
