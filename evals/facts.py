"""Loaders of passages and short facts (SQuAD-it, short facts), and of sentence pairs."""

from collections.abc import Iterator
from pathlib import Path

from evals.files import files_of, read_all
from evals.records import Corpus, Document, Pair, Question

NEGATION_STEMS = ("snli", "mnli", "rte")


def squad_it(folder: Path) -> Iterator[Corpus]:
    """All paragraphs in one corpus; the questions whose paragraph is there."""
    documents = tuple(Document(str(row["pid"]), row["text"]) for row in read_all(folder, "paragraphs"))
    known = {document.key for document in documents}
    questions = tuple(
        Question(row["question"], (frozenset((str(row["pid"]),)),))
        for row in read_all(folder, "questions")
        if str(row["pid"]) in known
    )
    if documents:
        yield Corpus("squad-it", documents, questions)


def short_facts(folder: Path) -> Iterator[Corpus]:
    """All facts of every language in one corpus."""
    documents = tuple(Document(str(row["id"]), row["text"]) for row in read_all(folder, "memories"))
    questions = tuple(
        Question(row["question"], (frozenset((str(row["id"]),)),), kind=row["set"])
        for row in read_all(folder, "questions")
    )
    if documents:
        yield Corpus("short-facts", documents, questions)


def contradiction_pairs(folder: Path) -> Iterator[Pair]:
    """Pairs of memories; whatever is no contradiction may stand beside the other."""
    for row in read_all(folder, "pairs"):
        contradicts = row["label"] == "contradiction"
        yield Pair(row["a"], row["b"], contradicts, (f"contradiction_pairs.{row['lang']}",), row["kind"])


def own_pairs(folder: Path) -> Iterator[Pair]:
    """The pairs that were written before the rules of scenes and predicates, reported apart."""
    for row in read_all(folder, "contradictions.pairs"):
        groups = ("contradiction_pairs_new", f"contradiction_pairs_new.{row['lang']}")
        yield Pair(row["a"], row["b"], row["label"] == "contradiction", groups, row["kind"])


def breaking_nli(folder: Path) -> Iterator[Pair]:
    """Pairs that differ in one word."""
    for row in read_all(folder, "pairs"):
        contradicts = row["gold_label"] == "contradiction"
        yield Pair(row["sentence1"], row["sentence2"], contradicts, ("breaking_nli", "nli"), row.get("category", ""))


def negation_nli(folder: Path) -> Iterator[Pair]:
    """Pairs with negations. RTE's `not_entailment` may be a contradiction or none: such pairs are left out."""
    for stem in NEGATION_STEMS:
        for row in read_all(folder, stem):
            if row["gold_label"] in ("contradiction", "neutral", "entailment"):
                contradicts = row["gold_label"] == "contradiction"
                yield Pair(row["Text"], row["Hypothesis"], contradicts, ("negation_nli", "nli"), stem)


def is_there(folder: Path, *stems: str) -> bool:
    """Whether a folder has a file of every stem."""
    return all(files_of(folder, stem) for stem in stems)
