"""`make eval-live DATA=folder [OUT=file.json]`: live chats, from whom to read to what stands in the prompt.

Planner decisions against labels; short facts of eight people in scripted batches; a show whose episodes have left the
history; public chats posted as turns; sources that hang, die or are late; and the same without profile, episodes,
salience, deduplication.
"""

import argparse
import asyncio
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import numpy as np
import orjson

from app.assembly.plan import QueryPlan
from app.assembly.ports import Ask, Retriever
from app.assembly.records import AssemblyRequest, Message, Retrieved, Section
from app.domain.entries import Author, Content, Tier
from app.domain.errors import UnavailableError
from app.domain.spaces import SpaceKey
from app.live.planner import Surroundings, plan_live
from app.live.records import Heard, LivePlan, Pick, Shared, Source
from app.live.service import LiveAssembled, LiveRequest, LiveService, Planner
from app.text.normalise import normalise_text
from app.turns.documents import viewer_of
from app.turns.records import Speaker
from evals.ablation import NO_DEDUPLICATION, replaced
from evals.files import read_all, spread
from evals.live_chats import attributions
from evals.live_plans import decisions
from evals.service import Service, running

PEOPLE: Final = 8
STREAM: Final = "stream:eval"
AGENT: Final = "Giulia"
_CALLS: Final = ("lol", "gg", "haha that was close", "wow", "no way", "first", "nice one")
_NOW: Final = datetime(2026, 3, 1, 20, tzinfo=UTC)
_PATIENT_MS: Final = 60_000
_STAGE_MS: Final = 200


@dataclass(frozen=True, slots=True)
class Asked:
    """A scripted batch: in it some people ask, each about something that they once said.

    Attributes:
        facts: What is asked for, by its owner.
    """

    batch: tuple[Heard, ...]
    facts: Mapping[str, str]


@dataclass
class Found:
    """What came of the scripted batches.

    Attributes:
        facts: Whether each fact that was asked for stands under its owner.
        recalled: Entries recalled for the planned viewers, and how many of them were asked for.
        wrong: Facts that stand under somebody else.
        repeated: Facts that stand there twice.
        took_ms: Of each batch.
    """

    batches: int = 0
    facts: list[bool] = field(default_factory=list)
    recalled: int = 0
    relevant: int = 0
    wrong: int = 0
    repeated: int = 0
    took_ms: list[float] = field(default_factory=list)

    def figures(self) -> dict[str, float]:
        """As they are printed."""
        return {
            "batches": self.batches,
            "questions": len(self.facts),
            "facts_found": _mean(self.facts),
            "wrong_attributions": self.wrong,
            "repeated": self.repeated,
            "recall_precision": _share(self.relevant, self.recalled),
            "irrelevant_share": _share(self.recalled - self.relevant, self.recalled),
            **_latency(self.took_ms),
        }


def main() -> None:
    """Measure, print, write the file."""
    parser = argparse.ArgumentParser(prog="make eval-live", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with the data sets, one folder each")
    parser.add_argument("--out", type=Path, help="JSON file to write")
    options = parser.parse_args(sys.argv[1:])
    figures = measured(options.data)
    print(lines(figures))
    if options.out:
        options.out.write_bytes(orjson.dumps(figures, option=orjson.OPT_INDENT_2) + b"\n")


def measured(data: Path) -> dict[str, dict[str, float]]:
    """All figures, by what they are of."""
    return {"planner": decisions(data).figures(), **asyncio.run(_measured(data))}


def lines(figures: Mapping[str, Mapping[str, float]]) -> str:
    """A line for each part."""
    return "\n".join(
        f"{name}: {', '.join(f'{key} {value:g}' for key, value in row.items())}" for name, row in figures.items()
    )


async def _measured(data: Path) -> dict[str, dict[str, float]]:
    figures: dict[str, dict[str, float]] = {}
    async with running(worker="none") as service:
        owners = await _fill_facts(service, data)
        for viewers in (5, 3):
            asked = list(_batches(data, owners, viewers))
            figures[f"batches.{viewers}_viewers"] = (await _ask(service, asked, owners, viewers=viewers)).figures()
        for name, planner in _ABLATIONS.items():
            figures[f"without.{name}"] = (await _ask(service, asked, owners, planner=planner)).figures()
        figures |= await _repetitions(service, data)
        figures |= await _broken(service, asked[:20])
        figures |= await _episodes(service, data)
        figures["chats"] = (await attributions(service, data)).figures()
    return figures


async def _fill_facts(service: Service, data: Path, platform: str = "chat") -> dict[str, str]:
    """Remember the short facts, each of one of eight people; whose each is."""
    owners: dict[str, str] = {}
    contents: defaultdict[str, list[Content]] = defaultdict(list)
    for place, row in enumerate(read_all(data / "short_facts", "memories")):
        space = f"viewer:{platform}:{place % PEOPLE}"
        owners[row["text"]] = space
        contents[space].append(Content(text=row["text"]))
    for space, members in contents.items():
        await service.runtime.entries.create(service.caller, space, Tier.MEMORIES, members)
    return owners


def _batches(data: Path, owners: Mapping[str, str], askers: int) -> Iterator[Asked]:
    """Each question, asked by whom the fact is about; so many at once, among what the others call out."""
    facts = {row["id"]: row["text"] for row in read_all(data / "short_facts", "memories")}
    waiting = [row for row in read_all(data / "short_facts", "questions") if row["id"] in facts]
    number = 0
    while waiting:
        chosen: dict[str, dict[str, Any]] = {}
        for row in waiting:
            if len(chosen) < askers:
                chosen.setdefault(owners[facts[row["id"]]], row)
        waiting = [row for row in waiting if all(row is not one for one in chosen.values())]
        people = sorted(set(owners.values()))
        others = [space for space in people if space not in chosen]
        said = [_says(space, _CALLS[(number + place) % len(_CALLS)]) for place, space in enumerate(others)]
        for place, (owner, row) in enumerate(chosen.items()):
            said.insert((number + 2 * place) % (len(said) + 1), _says(owner, f"{AGENT}, {row['question']}"))
        yield Asked(tuple(said), {owner: facts[row["id"]] for owner, row in chosen.items()})
        number += 1


def _says(space: str, text: str) -> Heard:
    _, platform, who = space.split(":")
    author = Author(f"Person{who}", platform, who)
    return Heard(text=text, author=author, viewer=viewer_of(author, Speaker.USER))


async def _ask(
    service: Service,
    asked: Sequence[Asked],
    owners: Mapping[str, str],
    *,
    viewers: int = 3,
    planner: Planner = plan_live,
) -> Found:
    live = replace(service.runtime.live, planner=planner)
    found = Found()
    for one in asked:
        started = time.perf_counter()
        got = await _assemble(live, service, one.batch, viewers=viewers)
        found.took_ms.append((time.perf_counter() - started) * 1000)
        _count(found, one, got, owners)
    return found


async def _repetitions(service: Service, data: Path) -> dict[str, dict[str, float]]:
    """Everybody has said their facts too, louder: such an episode says nothing new."""
    owners = await _fill_facts(service, data, "loud")
    said: defaultdict[str, list[Content]] = defaultdict(list)
    for fact, space in owners.items():
        said[space].append(Content(text=_louder(fact), occurred_at=_NOW - timedelta(days=1)))
    for space, contents in said.items():
        await service.runtime.entries.create(service.caller, space, Tier.EPISODES, contents)
    asked = list(_batches(data, owners, 3))
    whole = await _repeated(service, asked)
    with replaced(NO_DEDUPLICATION):
        return {"deduplication": whole, "without.deduplication": await _repeated(service, asked)}


def _louder(fact: str) -> str:
    return f"  {fact.upper().rstrip('.').replace(' ', '  ')}!!"


async def _repeated(service: Service, asked: Sequence[Asked]) -> dict[str, float]:
    """Of the entries in the prompts, those that are there twice, and those that recent history shows."""
    live = service.runtime.live
    entries = twice = shown = 0
    for number, one in enumerate(asked):
        told = one.facts if number % 2 else {}  # every other time it was said a moment ago
        history = tuple(Message(_louder(fact), None, _NOW, space) for space, fact in told.items())
        got = await _assemble(live, service, one.batch, history=history)
        kept = [e.scored.candidate for e in got.assembled.assembly.selection.entries]
        says = [(c.space, normalise_text(c.text)) for c in kept]
        entries += len(says)
        twice += len(says) - len(set(says))
        shown += sum((space, normalise_text(fact)) in says for space, fact in told.items())
    return {"entries": entries, "twice": twice, "shown_by_history": shown}


def _count(found: Found, one: Asked, got: LiveAssembled, owners: Mapping[str, str]) -> None:
    kept = [e.scored.candidate for e in got.assembled.assembly.selection.entries]
    under = _by_owner(got.assembled.assembly.prompt)
    found.batches += 1
    found.facts += [fact in under.get(owner, "") for owner, fact in one.facts.items()]
    found.wrong += sum(owners[c.text] != space for space, told in under.items() for c in kept if f">{c.text}<" in told)
    found.repeated += len(kept) - len({(c.space, c.text) for c in kept})
    recalled = [c for c in kept if not c.is_standing]
    found.recalled += len(recalled)
    found.relevant += sum(c.text == one.facts.get(c.space) for c in recalled)


def _by_owner(prompt: str) -> dict[str, str]:
    """What the prompt says under each owner, read off its tags."""
    told: defaultdict[str, str] = defaultdict(str)
    owner = ""
    for line in prompt.splitlines():
        if line.startswith(("<profile ", "<recall ")):
            owner = line.partition('of="')[2].partition('"')[0]
        elif owner:
            told[owner] += line
    return told


async def _assemble(
    live: LiveService,
    service: Service,
    batch: Sequence[Heard],
    *,
    viewers: int = 3,
    timeout_ms: int = _PATIENT_MS,
    agents: tuple[str, ...] = (AGENT,),
    **fields: Any,
) -> LiveAssembled:
    stream = service.caller.space(STREAM)
    base = AssemblyRequest(
        space=stream, persona=stream, query="", as_of=_NOW, record=False, timeout_ms=timeout_ms, **fields
    )
    got, _ = await live.assemble(LiveRequest(base=base, batch=tuple(batch), agents=agents, viewers=viewers))
    return got


def _without_profile(batch: Sequence[Heard], around: Surroundings, viewers: int) -> LivePlan:
    plan = plan_live(batch, around, viewers)
    return replace(plan, picks=tuple(replace(p, reads=_less(p, Source.PROFILE)) for p in plan.picks))


def _less(pick: Pick, source: Source) -> tuple[Source, ...]:
    return tuple(one for one in pick.reads if one is not source)


def _without_episodes(batch: Sequence[Heard], around: Surroundings, viewers: int) -> LivePlan:
    plan = plan_live(batch, around, viewers)
    return replace(plan, episodes=Shared(Source.EPISODES, is_read=False, why="left out"))


def _without_salience(batch: Sequence[Heard], around: Surroundings, viewers: int) -> LivePlan:
    """Whoever spoke first is read."""
    plan = plan_live(batch, around, PEOPLE)
    order = list(dict.fromkeys(m.viewer for m in batch))
    first = sorted(plan.picks, key=lambda pick: order.index(pick.space))[:viewers]
    both = (Source.PROFILE, Source.RECALL)
    return replace(plan, picks=tuple(replace(pick, reads=both) for pick in first))


_ABLATIONS: Final[Mapping[str, Planner]] = {"profile": _without_profile, "salience": _without_salience}


@dataclass(frozen=True, slots=True)
class _Broken:
    """A store one of whose spaces hangs, dies, or takes its time."""

    within: Retriever
    space: str
    how: Callable[[], Any]

    async def retrieve(self, plan: QueryPlan, ask: Ask) -> Retrieved:
        """As the store within, but for one space."""
        if any(space.name == self.space for space in plan.spaces):
            await self.how()
        return await self.within.retrieve(plan, ask)


async def _hang() -> None:
    await asyncio.Event().wait()


async def _die() -> None:
    raise UnavailableError("the connection is gone")


async def _late() -> None:
    await asyncio.sleep(2 * _STAGE_MS / 1000)


async def _broken(service: Service, asked: Sequence[Asked]) -> dict[str, dict[str, float]]:
    """How long batches take when one source does not answer, and whether the prompt comes and names it."""
    figures: dict[str, dict[str, float]] = {}
    for name, how in (("hangs", _hang), ("dies", _die), ("is_late", _late)):
        took, named = [], []
        for one in asked:
            space = next(iter(one.facts))
            store = _Broken(service.runtime.live.retriever, space, how)
            live = replace(service.runtime.live, retriever=store)
            started = time.perf_counter()
            got = await _assemble(live, service, one.batch, timeout_ms=_STAGE_MS)
            took.append((time.perf_counter() - started) * 1000)
            named.append(space in got.assembled.degraded)
        figures[f"source.{name}"] = {"stage_ms": _STAGE_MS, "named": _mean(named), **_latency(took)}
    return figures


_TURN_LINES: Final = 8
_ASKED_OF_A_SHOW: Final = 25


async def _episodes(service: Service, data: Path) -> dict[str, dict[str, float]]:
    """A show is kept in turns of eight lines; somebody refers back to what a summary tells of it."""
    found: list[bool] = []
    without: list[bool] = []
    read = 0
    for show in spread(list(read_all(data / "crd3_test", "episodes")), 2):
        stream = f"stream:{show['episode']}"
        places = await _fill_show(service, stream, show["turns"])
        for chunk in spread(show["chunks"], _ASKED_OF_A_SHOW):
            text = f"{AGENT}, do you remember when {chunk['summary'].split('. ')[0]}?"
            got = await _ask_show(service, stream, text, plan_live)
            read += got.plan.episodes.is_read
            kept = [
                e.scored.candidate
                for e in got.assembled.assembly.selection.entries
                if e.section is Section.RECENT_CONTEXT
            ]
            wanted = range(chunk["start"] // _TURN_LINES, chunk["end"] // _TURN_LINES + 1)
            found.append(any(places[c.text] in wanted for c in kept))
            blind = await _ask_show(service, stream, text, _without_episodes)
            without.append(bool(blind.assembled.assembly.selection.entries))
    return {
        "episodes": {"questions": len(found), "read": _share(read, len(found)), "recall": _mean(found)},
        "without.episodes": {"questions": len(without), "recall": _mean(without)},
    }


async def _fill_show(service: Service, stream: str, turns: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    lines = [f"{turn['names'][0]}: {turn['text']}" for turn in turns]
    texts = ["\n".join(lines[i : i + _TURN_LINES]) for i in range(0, len(lines), _TURN_LINES)]
    contents = [
        Content(text=text[:20_000], occurred_at=_NOW - timedelta(days=7) + timedelta(minutes=place))
        for place, text in enumerate(texts)
    ]
    for start in range(0, len(contents), 100):
        await service.runtime.entries.create(service.caller, stream, Tier.EPISODES, contents[start : start + 100])
    return {content.text: place for place, content in enumerate(contents)}


async def _ask_show(service: Service, stream: str, text: str, planner: Planner) -> LiveAssembled:
    live = replace(service.runtime.live, planner=planner)
    space: SpaceKey = service.caller.space(stream)
    base = AssemblyRequest(space=space, persona=space, query="", as_of=_NOW, record=False, timeout_ms=_PATIENT_MS)
    batch = (_says("viewer:chat:99", text), _says("viewer:chat:98", "lol"))
    got, _ = await live.assemble(LiveRequest(base=base, batch=batch, agents=(AGENT,)))
    return got


def _latency(took_ms: Sequence[float]) -> dict[str, float]:
    p50, p95 = np.percentile(took_ms, [50, 95])
    return {
        "mean_ms": round(float(np.mean(took_ms)), 1),
        "p50_ms": round(float(p50), 1),
        "p95_ms": round(float(p95), 1),
    }


def _mean(values: Sequence[bool]) -> float:
    return round(sum(values) / len(values), 3) if values else 0.0


def _share(part: int, whole: int) -> float:
    return round(part / whole, 3) if whole else 0.0


if __name__ == "__main__":
    main()
