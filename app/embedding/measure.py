"""Measuring a model on pairs: where contradictions lie, and how its cosines compare with the bundled model's."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from app.embedding.calibration import CosineMap
from app.embedding.centre import measure_centre
from app.embedding.pairs import Pair, Relation, with_crossed

Vectors = NDArray[np.float32]
Cosines = Mapping[Relation, NDArray[np.float32]]
"""Of the pairs of each relation; relations without a pair are left out."""

PERCENTILES: Final = (5, 25, 50, 75, 95)

_REFERENCE_LANGUAGES: Final = frozenset({"en", "it"})
"""In which the bundled model is compared with: it knows no Czech."""


class Measurable(Protocol):
    """An embedder that can be measured."""

    async def embed_query(self, text: str) -> Vectors:
        """One unit vector, shape (d,)."""
        ...

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, shape (n, d)."""
        ...


@dataclass(frozen=True, slots=True)
class Measured:
    """What a model was found to do.

    Attributes:
        dimensions: Length of a vector.
        raw: Cosines of statements, on which the band is laid; percentiles by relation.
        centred: Cosines of questions and statements, which relevance is made of; percentiles by relation.
        band: The contradictions' 5th and 95th percentile of raw cosines.
        cosines: Takes centred cosines to the bundled model's.
    """

    dimensions: int
    raw: Mapping[Relation, tuple[float, ...]]
    centred: Mapping[Relation, tuple[float, ...]]
    band: tuple[float, float]
    cosines: CosineMap


async def measure(embedder: Measurable, reference: Measurable, pairs: tuple[Pair, ...]) -> Measured:
    """Measure a model beside the bundled one (`reference`).

    Raises:
        ValueError: If there are not at least two contradictions and two answers in English or Italian.
    """
    crossed = with_crossed(pairs)
    known = tuple(pair for pair in crossed if pair.language in _REFERENCE_LANGUAGES)
    raw, centred = await _raw(embedder, crossed), await _centred(embedder, crossed)
    compared = await _centred(embedder, known), await _centred(reference, known)
    if len(raw.get(Relation.CONTRADICTION, ())) < 2 or len(compared[0].get(Relation.ANSWER, ())) < 2:
        raise ValueError("needs two or more pairs of kind contradiction, and of kind answer in English or Italian")
    dimensions = len(await embedder.embed_query("How long is a vector?"))
    return Measured(dimensions, _percentiles(raw), _percentiles(centred), band(raw), cosine_map(*compared))


def band(raw: Cosines) -> tuple[float, float]:
    """The 5th and 95th percentile of contradictions, outwards to a hundredth: what stands for bge-m3's 0.75 to 0.92."""
    lower, upper = np.percentile(raw[Relation.CONTRADICTION], (5, 95))
    return float(np.floor(lower * 100) / 100), float(min(np.ceil(upper * 100) / 100, 1.0))


def cosine_map(model: Cosines, reference: Cosines) -> CosineMap:
    """The line that takes the model's median cosines of answers and of irrelevant statements to the reference's."""
    relations = (Relation.IRRELEVANT, Relation.ANSWER)
    low, high = (float(np.median(model[relation])) for relation in relations)
    low_reference, high_reference = (float(np.median(reference[relation])) for relation in relations)
    if high - low < 0.01:
        raise ValueError(f"the model does not tell answers from other statements: medians {high:.3f} and {low:.3f}")
    scale = (high_reference - low_reference) / (high - low)
    return CosineMap(round(scale, 3), round(low_reference - scale * low, 3))


async def _raw(embedder: Measurable, pairs: Sequence[Pair]) -> Cosines:
    statements = [pair for pair in pairs if not pair.relation.has_question]
    first = await embedder.embed_documents([pair.first for pair in statements])
    second = await embedder.embed_documents([pair.second for pair in statements])
    return _by_relation(statements, np.sum(first * second, axis=1))


async def _centred(embedder: Measurable, pairs: Sequence[Pair]) -> Cosines:
    """As the store compares them: the model's mean taken from both, the questions' shift from questions."""
    mean, shift = await measure_centre(embedder)
    asked = [pair for pair in pairs if pair.relation.has_question]
    if not asked:
        return {}
    questions = np.stack([await embedder.embed_query(pair.first) for pair in asked]) - mean - shift
    statements = await embedder.embed_documents([pair.second for pair in asked]) - mean
    return _by_relation(asked, np.sum(_unit(questions) * _unit(statements), axis=1))


def _by_relation(pairs: Sequence[Pair], cosines: NDArray[np.float32]) -> Cosines:
    relations = np.array([pair.relation.value for pair in pairs])
    return {r: cosines[relations == r.value] for r in Relation if (relations == r.value).any()}


def _percentiles(cosines: Cosines) -> Mapping[Relation, tuple[float, ...]]:
    return {relation: tuple(np.percentile(values, PERCENTILES).tolist()) for relation, values in cosines.items()}


def _unit(vectors: Vectors) -> Vectors:
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-6), dtype=np.float32)
