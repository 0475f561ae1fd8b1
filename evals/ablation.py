"""One thing off at a time: what each part of the pipeline gives.

The service has no switches for this: a part is taken out by replacing the function or constant that does it, for the
length of a measurement. What changes an index is measured on stores that are filled without it.
"""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np

import app.assembly.pipeline
import app.assembly.plan
import app.assembly.screen
import app.entries.search
import app.entries.service
import app.scoring.support
import app.store.retriever
import app.store.search
import app.text.terms
from app.assembly.records import Candidate
from app.assembly.screen import Screened
from app.scoring.asked import Asked
from app.store.pool import tenant_transaction
from app.text.normalise import fold
from evals.metrics import Tally
from evals.paired import Paired, paired
from evals.plan import Work
from evals.progress import say
from evals.run import ask, write
from evals.service import Service, Space

Replacement = tuple[ModuleType, str, Any]

FIGURES = (
    "locomo.turn.fraction@5",
    "locomo.turn.fraction@10",
    "locomo.turn.fraction@10.multi_hop",
    "locomo.session.any@5",
    "prompt.locomo.evidence",
    "beam.contradiction.both@5",
    "beam.update.both@5",
    "short_facts.mrr.en",
    "short_facts.mrr.it",
    "short_facts.mrr.cs",
    "short_facts.mrr.xl",
)
DATA_SETS = frozenset({"locomo", "beam_100k", "short_facts"})
WHOLE = "everything on"


NO_DEDUPLICATION: tuple[Replacement, ...] = (
    (app.assembly.pipeline, "unrepeated", lambda found, _: Screened(tuple(found), ())),
)


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the pipeline, and how it is taken out.

    Attributes:
        refills: Whether the stores have to be filled without it.
        after_filling: What is done to such a store before it is asked.
    """

    name: str
    replacements: tuple[Replacement, ...]
    refills: bool = False
    after_filling: Callable[[Space], Awaitable[None]] | None = None


def parts() -> tuple[Part, ...]:
    """What is taken out, one at a time; those that need no other stores first."""
    support, pipeline, terms = app.scoring.support, app.assembly.pipeline, app.text.terms
    no_terms = ("query_terms", lambda _: ())
    unheard = ("question_parameters", _without_vectors)
    uncentred = ("question_parameters", _unshifted)
    stores = (app.store.retriever, app.store.search)
    return (
        Part("keyword arm", tuple((module, *no_terms) for module in (app.assembly.plan, app.entries.search))),
        Part("dense arm", tuple((module, *unheard) for module in stores)),
        Part("neighbours and sessions", ((support, "SUPPORT", 0.0),)),
        Part("nearness in a session", ((support, "REACH", 1e9),)),
        Part("authors", ((support, "NAMED_AUTHOR", 1.0),)),
        Part("who is the agent", ((support, "AGENT_SAID", 1.0),)),
        Part("expressions of time", ((support, "IN_PERIOD", 1.0),)),
        Part("deduplication", NO_DEDUPLICATION),
        Part("variety", ((pipeline, "varied", lambda ranked, *_: tuple(ranked)),)),
        Part("stemming", ((terms, "stems", lambda word, _=(): (fold(word),)),), refills=True),
        Part("concepts", ((terms, "concepts", lambda *_: ()),), refills=True),
        Part("context", ((terms, "CONTEXT_WEIGHT", 0.0),), refills=True),
        Part(
            "contradictions",
            (
                (app.assembly.screen, "_settle", _unsettled),
                (app.entries.service, "_with_claim", lambda content, _: content),
            ),
            refills=True,
        ),
        Part("centring", tuple((module, *uncentred) for module in stores), refills=True, after_filling=_uncentre),
    )


@dataclass(frozen=True, slots=True)
class Ablation:
    """The figures with everything, and without each part."""

    whole: Tally
    without: Mapping[str, Tally] = field(default_factory=dict)

    def differences(self, part: str) -> dict[str, Paired]:
        """What each figure loses (below zero) without a part, question by question."""
        ours, others = self.whole.ours, self.without[part].ours
        return {key: paired(_values(ours[key]), _values(others[key])) for key in FIGURES if key in ours}


async def ablate(service: Service, work: Work) -> Ablation:
    """Measure with everything, then without each part."""
    work = Work(tuple((task, c) for task, c in work.retrieval if task.folder in DATA_SETS), (), ())
    filled = await _filled(service, work, "whole")
    whole = await _asked(work, filled, WHOLE)
    without: dict[str, Tally] = {}
    for number, part in enumerate(parts()):
        with replaced(part.replacements):
            stores = await _filled(service, work, f"part-{number}", part) if part.refills else filled
            without[part.name] = await _asked(work, stores, part.name)
    return Ablation(whole, without)


async def _filled(service: Service, work: Work, prefix: str, part: Part | None = None) -> dict[str, Space]:
    spaces: dict[str, Space] = {}
    for _, corpora in work.retrieval:
        for corpus in corpora:
            space = spaces[corpus.name] = Space(service, f"user:{prefix}-{corpus.name}")
            await write(space, corpus)
            if part is not None and part.after_filling is not None:
                await part.after_filling(space)
    return spaces


async def _asked(work: Work, spaces: Mapping[str, Space], name: str) -> Tally:
    tally = Tally()
    for task, corpora in work.retrieval:
        for corpus in corpora:
            await ask(spaces[corpus.name], corpus, task, tally)
    say(f"measured without: {name}" if name != WHOLE else f"measured: {name}")
    return tally


def ablation_table(found: Ablation) -> str:
    """A Markdown table: a line for each part that is off; a star where the 95 % interval of the difference is off 0."""
    keys = [key for key in FIGURES if key in found.whole.ours]
    figures = found.whole.figures()
    lines = [f"| off | {' | '.join(f'`{key}`' for key in keys)} |", f"|---|{'---:|' * len(keys)}"]
    lines.append(f"| nothing | {' | '.join(f'{figures[key].value:.3f}' for key in keys)} |")
    for name in found.without:
        differences = found.differences(name)
        lines.append(f"| {name} | {' | '.join(_cell(differences[key]) for key in keys)} |")
    return "\n".join(lines)


def _cell(one: Paired) -> str:
    is_sure = one.interval[0] > 0 or one.interval[1] < 0
    return f"{one.difference:+.3f}{'*' if is_sure else ''}"


def _values(items: Sequence[tuple[float, float]]) -> list[float]:
    return [value / weight for value, weight in items]


@contextmanager
def replaced(replacements: Sequence[Replacement]) -> Iterator[None]:
    """Run without some parts until the end of the block."""
    with ExitStack() as stack:
        for module, name, value in replacements:
            stack.callback(setattr, module, name, getattr(module, name))
            setattr(module, name, value)
        yield


_question_parameters = app.store.retriever.question_parameters


def _without_vectors(asked: Sequence[Asked]) -> dict[str, Any]:
    return {**_question_parameters(asked), "vectors": [None for _ in asked]}


def _unshifted(asked: Sequence[Asked]) -> dict[str, Any]:
    """The statement takes the question shift away: here it is added first."""
    parameters = _question_parameters(asked)
    shifts = [np.asarray(_SHIFTS[a.model_id]) for a in asked]
    vectors = [
        None if a.vector is None else type(v)(a.vector + s)
        for a, v, s in zip(asked, parameters["vectors"], shifts, strict=True)
    ]
    return {**parameters, "vectors": vectors}


_SHIFTS: dict[int, Any] = {}


async def _uncentre(space: Space) -> None:
    """Make the origin the centre of a space."""
    key = space.service.caller.space(space.name)
    pool = space.service.runtime.assembly.retriever.pool  # type: ignore[attr-defined]
    async with tenant_transaction(pool, key.tenant_id) as connection:
        address = {"tenant": key.tenant_id, "space": key.space_id}
        await connection.execute(
            "UPDATE space_centres SET centre = centre - centre WHERE tenant_id = %(tenant)s AND space_id = %(space)s",
            address,
        )
        await connection.execute(
            "UPDATE entry_vectors SET centred_norm = 1 WHERE tenant_id = %(tenant)s AND space_id = %(space)s", address
        )
        rows = await connection.execute("SELECT id, question_shift FROM embedding_models")
        _SHIFTS.update({model_id: shift.to_numpy() for model_id, shift in await rows.fetchall()})


def _unsettled(candidates: Sequence[Candidate], *_: object) -> Screened:
    return Screened(tuple(candidates), ())
