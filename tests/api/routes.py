"""Every route of the application, with a request that would reach somebody's data."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI
from fastapi.routing import iter_route_contexts


def routes_of(app: FastAPI) -> Iterator[tuple[str, str]]:
    """Method and path of every route, HEAD and OPTIONS left out."""
    for context in iter_route_contexts(app.routes):
        for method in sorted((context.methods or set()) - {"HEAD", "OPTIONS"}):
            yield method, context.path or ""


@dataclass(frozen=True)
class Victim:
    """What somebody has stored: a space, and the id of an item of every kind in it."""

    space: str
    memory: str
    episode: str
    procedure: str
    block: str
    assembly: str
    turn: str
    message: str
    session: str
    job: str
    correction: str
    question: str
    receipt: str
    record: str


def request_for(method: str, path: str, victim: Victim) -> tuple[str, dict[str, Any]]:
    """A request to a route that aims at the victim: its URL and what `httpx` takes with it.

    Raises:
        KeyError: If the route is not known here: a new route needs a line in this table.
    """
    route = f"{method} {path.removeprefix('/api/v1')}"
    url = path.removeprefix("/api/v1")
    for resource, item in _items(victim).items():
        if f" /{resource}/" in route:
            url = url.replace("{id}", item).replace("{assembly_id}", item)
    return url.replace("{space}", victim.space), _arguments(victim)[route]


def _items(victim: Victim) -> dict[str, str]:
    return {
        "memories": victim.memory,
        "episodes": victim.episode,
        "procedures": victim.procedure,
        "soul": victim.block,
        "assemblies": victim.assembly,
        "turns": victim.turn,
        "messages": victim.message,
        "sessions": victim.session,
        "jobs": victim.job,
        "corrections": victim.correction,
        "clarifications": victim.question,
        "receipts": victim.receipt,
        "records": victim.record,
    }


def _batch(victim: Victim) -> dict[str, Any]:
    author = {"platform": "chat", "id": "intruder", "name": "x"}
    return {"stream": "stream:somewhere", "persona": victim.space, "batch": [{"author": author, "text": "Hello?"}]}


def _arguments(victim: Victim) -> dict[str, dict[str, Any]]:
    where = {"space": victim.space}
    query = {"params": where}
    table: dict[str, dict[str, Any]] = {
        "GET /soul": query,
        "POST /soul": {"json": {**where, "name": "intruder", "text": "x"}},
        "POST /soul/order": {"json": {**where, "ids": [victim.block]}},
        "GET /soul/{id}": {},
        "PATCH /soul/{id}": {"json": {"text": "overwritten"}},
        "DELETE /soul/{id}": {},
        "GET /soul/{id}/versions": {},
        "POST /soul/{id}/restore": {"json": {"version": 1}},
        "POST /procedures/{id}/outcome": {"json": {"outcome": "failure"}},
        "POST /search": {"json": {**where, "query": "", "also_read": [victim.space], "min_relevance": 0.0}},
        "GET /spaces": {},
        "GET /spaces/{space}": {},
        "GET /spaces/{space}/profile": {},
        "POST /spaces/{space}/consolidate": {"json": {"dry_run": True}},
        "GET /tokens/current": {},
        "POST /tokens": {"json": {**where, "role": "reader"}},
        "POST /context/assemble": {
            "json": {**where, "query": "", "also_read": [victim.space], "persona": victim.space, "trace": True}
        },
        "POST /context/assemble/live": {"json": {**_batch(victim), "trace": True}},
        "POST /context/plan": {"json": _batch(victim)},
        "POST /turns": {"json": {**where, "messages": [{"text": "intruder"}]}},
        "GET /turns/{id}": {},
        "GET /messages": {"params": {**where, "query": "xylophone"}},
        "GET /messages/{id}": {},
        "PATCH /messages/{id}": {"json": {"text": "overwritten"}},
        "DELETE /messages/{id}": {},
        "GET /sessions": query,
        "GET /sessions/{id}": {},
        "GET /sessions/{id}/messages": {},
        "POST /sessions/{id}/end": {},
        "DELETE /sessions/{id}": {},
        "GET /records": query,
        "POST /records": {"json": {**where, "kind": "note", "payload": {"text": "intruder"}}},
        "GET /records/{id}": {},
        "PATCH /records/{id}": {"json": {"status": "done"}},
        "DELETE /records/{id}": {},
        "GET /records/{id}/versions": {},
        "GET /jobs": query,
        "GET /jobs/{id}": {},
        "POST /jobs/{id}/retry": {},
        "GET /history/settings": {},
        "PUT /history/settings": {"json": {"days": 3}},
        "POST /corrections": {"json": {**where, "said": "My name is Intruder, not Ana."}},
        "GET /corrections": query,
        "GET /corrections/{id}": {},
        "POST /clarifications/{id}": {"json": {"choice": "everywhere"}},
        "GET /spaces/{space}/memories/view": {},
        "POST /forget": {"json": {**where, "since": "2020-01-01T00:00:00Z", "dry_run": True}},
        "DELETE /spaces/{space}": {"params": {"dry_run": "true"}},
        "GET /receipts/{id}": {},
        "GET /receipts/{id}/verify": {},
        "GET /assemblies": query,
        "GET /assemblies/{id}": {},
        "POST /assemblies/{id}/replay": {},
    }
    for resource in ("memories", "episodes", "procedures"):
        table |= {
            f"GET /{resource}": query,
            f"POST /{resource}": {"json": {**where, "text": "intruder"}},
            f"POST /{resource}/batch": {"json": {**where, "entries": [{"text": "intruder"}]}},
            f"GET /{resource}/{{id}}": {},
            f"PATCH /{resource}/{{id}}": {"json": {"text": "overwritten"}},
            f"DELETE /{resource}/{{id}}": {},
            f"GET /{resource}/{{id}}/versions": {},
            f"GET /{resource}/{{id}}/sources": {},
            f"POST /{resource}/{{id}}/undo": {},
            f"POST /{resource}/{{id}}/restore": {},
        }
    return table
