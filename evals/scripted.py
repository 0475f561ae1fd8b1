"""Scripted conversations about corrections and forgetting, played over HTTP (data/corrections/README.md)."""

import asyncio
import re
import tomllib
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from app.main import create_app
from evals.metrics import Tally
from evals.service import Service

FOLDER = Path(__file__).parent / "data" / "corrections"
_ROUNDS = 200
_PAUSE_S = 0.05
_NOTE = re.compile(r"<note>(.*?)</note>\n?", re.DOTALL)
_LATELY = re.compile(r"<recent_context>.*?</recent_context>\n?", re.DOTALL)
"""What was said stands in the prompt as such; what is remembered of it is looked at."""

_PATIENCE_MS = 30_000
_MEMORY_FIELDS = ("scope", "category", "importance", "valid_from", "source")

Step = Mapping[str, Any]
Work = Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Script:
    """One conversation: sessions of steps.

    Attributes:
        language: The file that it stands in.
        about: What it shows.
    """

    language: str
    name: str
    about: str
    sessions: tuple[tuple[Step, ...], ...]

    @property
    def title(self) -> str:
        """Its name among all."""
        return f"{self.language}: {self.name}"


class ScriptError(AssertionError):
    """A step that came out otherwise than it is written."""


def scripts(folder: Path = FOLDER) -> Iterator[Script]:
    """Every conversation, by language and in the order of the file."""
    for path in sorted(folder.glob("*.toml")):
        for raw in tomllib.loads(path.read_text(encoding="utf-8"))["conversation"]:
            sessions = tuple(tuple(session) for session in raw["sessions"])
            yield Script(path.stem.rpartition(".")[2], raw["name"], raw["about"], sessions)


async def play(script: Script, client: httpx.AsyncClient, space: str, work: Work) -> None:
    """Play a conversation in a space of its own.

    Args:
        work: Does all the work that is due.

    Raises:
        ScriptError: At the first step that comes out otherwise.
    """
    player = _Player(client, space, work)
    for number, session in enumerate(script.sessions, 1):
        for step in session:
            try:
                await player.play(step)
            except ScriptError as error:
                raise ScriptError(f"{script.title}, session {number}, {dict(step)}: {error}") from error


async def play_all(service: Service, tally: Tally) -> tuple[str, ...]:
    """Play every conversation over HTTP: the share that comes out as it is written, by language too.

    Returns:
        What went otherwise, a line for each conversation.
    """
    app = create_app(service.runtime)
    app.state.runtime = service.runtime
    transport = httpx.ASGITransport(app=app)
    headers = {"Authorization": f"Bearer {service.key}"}
    failed: list[str] = []
    async with httpx.AsyncClient(transport=transport, base_url="http://evals/api/v1", headers=headers) as client:
        for number, script in enumerate(scripts()):
            try:
                await play(script, client, f"user:script-{number}", service.runtime.queue.drain)
                passed = True
            except ScriptError as error:
                failed.append(str(error).partition("\n")[0])
                passed = False
            tally.add("scripted.passed", float(passed))
            tally.add(f"scripted.{script.language}.passed", float(passed))
    return tuple(failed)


@dataclass(slots=True)
class _Player:
    client: httpx.AsyncClient
    space: str
    work: Work
    question: Mapping[str, Any] | None = None

    async def play(self, step: Step) -> None:
        """Do one step, and look at what comes of it."""
        for name in ("say", "remember", "correct", "choose", "forget", "ask"):
            if name in step:
                await getattr(self, f"_{name}")(step)
                return
        raise ScriptError("no step of this kind")

    async def _say(self, step: Step) -> None:
        message = {"text": step["say"], **({"author": {"name": step["by"]}} if "by" in step else {})}
        body: dict[str, Any] = {"session": "script", "messages": [message], "scope": step.get("in", "")}
        if "reply" in step:
            body["reply"] = {"text": step["reply"]}
        turn = await self._post("/turns", body)
        await self._finish(turn["id"])
        corrections = _json(await self.client.get(f"/turns/{turn['id']}"))["corrections"]
        if step["outcome"] == "nothing":
            _check(not corrections, str([correction["told"] for correction in corrections]))
        else:
            _check(len(corrections) == 1, f"{len(corrections)} corrections")
            self._look(step, corrections[0])

    async def _finish(self, turn: str) -> None:
        """Work until nothing is to be done for a turn: what waits for another, or is forgotten, is worked on again."""
        for _ in range(_ROUNDS):
            await self.work()
            jobs = _json(await self.client.get("/jobs", params={"subject": turn}))["items"]
            if all(job["state"] in {"succeeded", "failed"} for job in jobs):
                return
            await asyncio.sleep(_PAUSE_S)
        raise ScriptError("the turn's work does not end")

    async def _remember(self, step: Step) -> None:
        fields = {name: step[name] for name in _MEMORY_FIELDS if name in step}
        entry = await self._post("/memories", {"text": step["remember"], **fields})
        _check(not step.get("gone") or entry["status"] != "active", f"is {entry['status']}")

    async def _correct(self, step: Step) -> None:
        said = step["correct"]
        wanted = {"said": said} if isinstance(said, str) else dict(said)
        self._look(step, await self._post("/corrections", {**wanted, "scopes": step.get("in", [])}))

    async def _choose(self, step: Step) -> None:
        _check(self.question is not None, "nothing was asked")
        asked = self.question or {}
        keys = [o["key"] for o in asked["options"] if step["choose"] == o["key"] or step["choose"] in o["label"]]
        _check(len(keys) == 1, f"{keys} of {asked['options']}")
        reply = await self.client.post(f"/clarifications/{asked['id']}", json={"choice": keys[0]})
        self._look(step, _json(reply))

    def _look(self, step: Step, reply: Mapping[str, Any]) -> None:
        told = reply["told"]
        _check(reply["outcome"] == step["outcome"], f"{reply['outcome']}: {told}")
        _check(all(part in told for part in step.get("says", ())), told)
        offered = [option["key"] for option in reply["options"]]
        _check("options" not in step or offered == list(step["options"]), f"offers {offered}")
        self.question = reply if reply["open"] else None

    async def _forget(self, step: Step) -> None:
        receipt = await self._post("/forget", dict(step["forget"]))
        _check(receipt["entries"] == step["count"], f"{receipt['entries']} erased")

    async def _ask(self, step: Step) -> None:
        body = {"query": step["ask"], "scopes": step.get("in", []), "timeout_ms": _PATIENCE_MS}
        prompt = (await self._post("/context/assemble", body))["prompt"]
        notes, rest = " ".join(_NOTE.findall(prompt)), _LATELY.sub("", _NOTE.sub("", prompt))
        for name, text, wanted in (("must", rest, True), ("never", rest, False), ("told", notes, True)):
            _check(all((part in text) is wanted for part in step.get(name, ())), f"{name}:\n{prompt}")
        _check(not any(part in notes for part in step.get("untold", ())), f"untold:\n{prompt}")
        await self.client.get("/assemblies", params={"space": self.space})  # what was told is noted off the path

    async def _post(self, path: str, body: Mapping[str, Any]) -> Any:
        return _json(await self.client.post(path, json={"space": self.space, **body}))


def _json(reply: httpx.Response) -> Any:
    _check(reply.status_code < 300, f"{reply.status_code} {reply.text}")
    return reply.json()


def _check(holds: bool, found: str) -> None:  # noqa: FBT001 - a condition
    if not holds:
        raise ScriptError(found)
