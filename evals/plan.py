"""Which data sets are measured, how each is loaded and scored, and how much of it."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from evals import conversations, facts, scores
from evals.files import spread
from evals.records import Corpus, Document, Pair, Question

Score = Callable[[Question, Sequence[Document]], dict[str, float]]


@dataclass(frozen=True, slots=True)
class RetrievalTask:
    """A data set of documents and questions.

    Attributes:
        stems: The files that it needs.
        corpora: How many of its corpora SUBSET=small takes, evenly spaced; None for all.
        questions: How many questions a corpus, likewise.
        prompts: Whether prompts are assembled too.
    """

    folder: str
    stems: tuple[str, ...]
    load: Callable[[Path], Iterator[Corpus]]
    score: Score
    corpora: int | None = None
    questions: int | None = None
    prompts: bool = False


@dataclass(frozen=True, slots=True)
class PairTask:
    """A data set of sentence pairs.

    Attributes:
        pairs: How many SUBSET=small takes, evenly spaced.
        within: Where the folder is; None for among the data sets that a run is given.
    """

    folder: str
    stems: tuple[str, ...]
    load: Callable[[Path], Iterator[Pair]]
    pairs: int | None = None
    within: Path | None = None


RETRIEVAL = (
    RetrievalTask(
        "locomo", ("conversations",), conversations.locomo, scores.locomo, corpora=2, questions=100, prompts=True
    ),
    RetrievalTask("longmemeval", ("instances",), conversations.longmemeval, scores.longmemeval, corpora=6),
    RetrievalTask("beam_100k", ("conversations",), conversations.beam, scores.beam, corpora=4),
    RetrievalTask("squad_it", ("paragraphs", "questions"), facts.squad_it, scores.squad_it, questions=200),
    RetrievalTask("short_facts", ("memories", "questions"), facts.short_facts, scores.short_facts),
)
PAIRS = (
    PairTask("data", ("contradictions.pairs",), facts.own_pairs, within=Path(__file__).parent),
    PairTask("contradiction_pairs", ("pairs",), facts.contradiction_pairs),
    PairTask("breaking_nli", ("pairs",), facts.breaking_nli, pairs=500),
    PairTask("negation_nli", facts.NEGATION_STEMS, facts.negation_nli, pairs=300),
)


@dataclass(frozen=True, slots=True)
class Work:
    """What a run measures.

    Attributes:
        missing: Data sets that are not in the folder.
    """

    retrieval: tuple[tuple[RetrievalTask, tuple[Corpus, ...]], ...]
    pairs: tuple[tuple[PairTask, tuple[Pair, ...]], ...]
    missing: tuple[str, ...]


def plan(data: Path, *, small: bool) -> Work:
    """Load what is there.

    Raises:
        ValueError: If a file is not what it should be.
    """
    tasks: Iterable[RetrievalTask | PairTask] = (*RETRIEVAL, *(task for task in PAIRS if task.within is None))
    missing = tuple(task.folder for task in tasks if not facts.is_there(data / task.folder, *task.stems))
    return Work(
        tuple((task, _corpora(task, data, small=small)) for task in RETRIEVAL if task.folder not in missing),
        tuple((task, _pairs(task, data, small=small)) for task in PAIRS if task.folder not in missing),
        missing,
    )


def _corpora(task: RetrievalTask, data: Path, *, small: bool) -> tuple[Corpus, ...]:
    loaded = tuple(task.load(data / task.folder))
    if not small:
        return loaded
    return tuple(replace(c, questions=tuple(spread(c.questions, task.questions))) for c in spread(loaded, task.corpora))


def _pairs(task: PairTask, data: Path, *, small: bool) -> tuple[Pair, ...]:
    loaded = tuple(task.load((task.within or data) / task.folder))
    return tuple(spread(loaded, task.pairs)) if small else loaded
