"""The shell: fills the store, asks, scores."""

from collections.abc import Callable
from functools import partial

from app.assembly.records import BudgetTokens
from evals.bm25 import PlainBm25, fill, plain_bm25
from evals.metrics import Tally, distinct, fraction_at
from evals.pairs import called, count_pairs, similarities
from evals.plan import PairTask, RetrievalTask, Work
from evals.progress import Progress
from evals.records import Corpus, Document, Pair, Question
from evals.service import SEARCH_LIMIT, Service, Space, batches

_ENTRY_MS, _CHARACTER_MS, _QUESTION_MS, _PROMPT_MS, _PAIR_MS = 4.0, 0.015, 20.0, 25.0, 5.0
"""Guesses of what things take, for the estimate alone."""

_PAIR_BATCH = 200


def _ignore(_: float) -> None:
    return


def _nothing() -> None:
    return


async def measure(service: Service, work: Work) -> Tally:
    """Everything, one data set after the other."""
    tally = Tally()
    progress = Progress(_guess_ms(work))
    for task, corpora in work.retrieval:
        for number, corpus in enumerate(corpora, 1):
            what = f"{task.folder} {number} of {len(corpora)}"
            space = Space(service, f"user:{corpus.name}")
            written = await write(space, corpus, partial(progress.step, what=what))
            plain = plain_bm25(corpus.documents)
            advance = partial(progress.step, _question_ms(task), what)
            await ask(space, corpus, task, tally, plain=plain, advance=advance)
            for superseded, entries in written:
                tally.add(f"superseded.{task.folder}", float(superseded), float(entries))
    for pair_task, pairs in work.pairs:
        await _judge(service, pair_task, pairs, tally, progress)
    return tally


async def write(space: Space, corpus: Corpus, advance: Callable[[float], None] = _ignore) -> list[tuple[int, int]]:
    """Fill a space.

    Args:
        advance: Called with the milliseconds that a batch was guessed to take.

    Returns:
        For each batch how many entries gave way to one of it, and how many it has.
    """
    written: list[tuple[int, int]] = []
    for batch in batches(corpus):
        written.append((await space.write(batch), len(batch)))
        advance(sum(map(_document_ms, batch)))
    return written


async def ask(
    space: Space,
    corpus: Corpus,
    task: RetrievalTask,
    tally: Tally,
    *,
    plain: PlainBm25 | None = None,
    advance: Callable[[], None] = _nothing,
) -> None:
    """Ask a filled space everything.

    Args:
        plain: Measured beside it, if it is given.
        advance: Called after each question.
    """
    for question in corpus.questions:
        for key, value in task.score(question, await space.search(question)).items():
            tally.add(key, value)
        if plain is not None:
            for key, value in task.score(question, plain.best(question.text, SEARCH_LIMIT)).items():
                tally.add_plain(key, value)
        if task.prompts:
            await _prompt(space, question, plain, f"prompt.{task.folder}", tally)
        advance()


async def _prompt(space: Space, question: Question, plain: PlainBm25 | None, key: str, tally: Tally) -> None:
    """The default prompt; beside it what BM25 alone would put into the same budget for memories."""
    assembled, entries = await space.assemble(question)
    measured = [(tally.add, entries)]
    if plain is not None:
        ranking = plain.best(question.text, SEARCH_LIMIT * 4)
        measured.append((tally.add_plain, fill(ranking, BudgetTokens().memories, space.service.runtime.count)))
    for add, documents in measured:
        add(f"{key}.evidence", fraction_at(len(documents), _keys(documents), question.evidence))
        add(f"{key}.noise", float(sum(not _is_evidence(d, question) for d in documents)), float(len(documents)))
        add(f"{key}.entries", float(len(documents)))
    tally.sample(f"{key}.tokens", float(assembled.assembly.tokens["total"]))
    tally.sample(f"{key}.latency_ms", assembled.timings_ms["total"])


def _keys(documents: list[Document]) -> list[str]:
    return distinct(document.key for document in documents)


def _is_evidence(document: Document, question: Question) -> bool:
    return any(document.key in piece for piece in question.evidence)


async def _judge(service: Service, task: PairTask, pairs: tuple[Pair, ...], tally: Tally, progress: Progress) -> None:
    embedders, band = service.runtime.entries.embedders, service.runtime.assembly.models.rules.band
    model = embedders.only
    assert model is not None  # noqa: S101 - a store of one model
    calls: list[bool] = []
    for start in range(0, len(pairs), _PAIR_BATCH):
        batch = pairs[start : start + _PAIR_BATCH]
        earlier = await embedders.embed_documents(model, [pair.earlier for pair in batch])
        later = await embedders.embed_documents(model, [pair.later for pair in batch])
        cosines = similarities(earlier, later)
        calls += [called(pair, cosine, band) for pair, cosine in zip(batch, cosines, strict=True)]
        progress.step(_PAIR_MS * len(batch), task.folder)
    count_pairs(pairs, calls, tally)


def _guess_ms(work: Work) -> float:
    corpora = [(task, corpus) for task, loaded in work.retrieval for corpus in loaded]
    writing = sum(_document_ms(document) for _, corpus in corpora for document in corpus.documents)
    asking = sum(_question_ms(task) * len(corpus.questions) for task, corpus in corpora)
    return max(writing + asking + _PAIR_MS * sum(len(pairs) for _, pairs in work.pairs), 1.0)


def _document_ms(document: Document) -> float:
    return _ENTRY_MS + _CHARACTER_MS * min(len(document.text), 5_000)


def _question_ms(task: RetrievalTask) -> float:
    return _QUESTION_MS + (_PROMPT_MS if task.prompts else 0.0)
