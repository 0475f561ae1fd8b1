"""What each data set asks of a ranking. The same function scores the pipeline and plain BM25."""

from collections.abc import Sequence

from evals.conversations import ABSTENTION
from evals.metrics import all_at, any_at, distinct, fraction_at, ndcg_at, reciprocal_rank
from evals.records import Document, Question

TURN_CUTS = (5, 10, 25, 50)


def locomo(question: Question, ranking: Sequence[Document]) -> dict[str, float]:
    """Evidence turns and sessions; a session ranks where its best turn does."""
    turns = distinct(document.key for document in ranking)
    sessions = distinct(document.session for document in ranking)
    found = {k: fraction_at(k, turns, question.evidence) for k in TURN_CUTS}
    wanted = [frozenset((session,)) for session in question.sessions]
    return {
        **{f"locomo.turn.fraction@{k}": value for k, value in found.items()},
        **{f"locomo.turn.fraction@{k}.{question.kind}": value for k, value in found.items()},
        "locomo.session.any@5": any_at(5, sessions, question.sessions),
        "locomo.session.fraction@10": fraction_at(10, sessions, wanted),
    }


def longmemeval(question: Question, ranking: Sequence[Document]) -> dict[str, float]:
    """Answer sessions; a session ranks where its best turn does."""
    sessions = distinct(document.session for document in ranking)
    found = {
        "any@5": any_at(5, sessions, question.sessions),
        "all@5": all_at(5, sessions, question.sessions),
        "any@10": any_at(10, sessions, question.sessions),
        "all@10": all_at(10, sessions, question.sessions),
        "ndcg@10": ndcg_at(10, sessions, question.sessions),
    }
    together = {f"longmemeval.session_with_abstention.{name}": value for name, value in found.items()}
    if question.kind == ABSTENTION:
        return {**together, **{f"longmemeval.abstention.{name}": value for name, value in found.items()}}
    return {
        **{f"longmemeval.session.{name}": value for name, value in found.items()},
        **{f"longmemeval.session.{name}.{question.kind}": found[name] for name in ("any@5", "all@5")},
        **together,
    }


def beam(question: Question, ranking: Sequence[Document]) -> dict[str, float]:
    """Whether both sides are among the first five."""
    keys = distinct(document.key for document in ranking)
    return {f"beam.{question.kind}.both@5": float(fraction_at(5, keys, question.evidence) == 1)}


def squad_it(question: Question, ranking: Sequence[Document]) -> dict[str, float]:
    """The one right paragraph."""
    keys = distinct(document.key for document in ranking)
    return {
        "squad_it.p@1": fraction_at(1, keys, question.evidence),
        "squad_it.r@10": fraction_at(10, keys, question.evidence),
    }


def short_facts(question: Question, ranking: Sequence[Document]) -> dict[str, float]:
    """The one right fact."""
    keys = distinct(document.key for document in ranking)
    return {f"short_facts.mrr.{question.kind}": reciprocal_rank(keys, question.evidence[0])}
