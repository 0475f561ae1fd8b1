"""The line that any engine must beat: BM25Plus of rank_bm25 with its defaults, over words in lower case."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from rank_bm25 import BM25Plus

from evals.records import Document

_WORD = re.compile(r"\w+")


def words(text: str) -> list[str]:
    """The words of a text, in lower case; nothing is stemmed or left out."""
    return _WORD.findall(text.lower())


@dataclass(frozen=True, slots=True)
class PlainBm25:
    """Ranks the documents of one corpus."""

    documents: Sequence[Document]
    index: BM25Plus

    def best(self, question: str, limit: int) -> list[Document]:
        """The best documents, best first; ties in the order of the corpus."""
        scores = self.index.get_scores(words(question))
        return [self.documents[place] for place in np.argsort(-scores, kind="stable")[:limit]]


def plain_bm25(documents: Sequence[Document]) -> PlainBm25:
    """Index a corpus."""
    return PlainBm25(documents, BM25Plus([words(document.text) for document in documents]))


def fill(ranking: Sequence[Document], budget_tokens: int, count: Callable[[str], int]) -> list[Document]:
    """What of a ranking fits a budget, one document a line, in order, up to the first that does not."""
    taken: list[Document] = []
    for document in ranking:
        budget_tokens -= count(f"{document.text}\n")
        if budget_tokens < 0:
            break
        taken.append(document)
    return taken
