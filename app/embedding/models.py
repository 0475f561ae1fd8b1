"""The models that are known: what each declares before it is loaded."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from app.embedding.calibration import CosineMap, ModelCalibration, calibrated
from app.embedding.windows import WindowLimits


@dataclass(frozen=True, slots=True)
class EmbeddingModel:
    """What is declared of a model.

    Attributes:
        name: Stored with every vector; another name is another vector space.
        dimensions: Length of a vector; None if only the model itself can tell.
        languages: In words.
        query_windows: How much of a question is read.
        document_windows: How much of a document is read.
        calibration: None if it was never measured.
    """

    name: str
    dimensions: int | None
    languages: str
    query_windows: WindowLimits
    document_windows: WindowLimits
    calibration: ModelCalibration | None = None


BUNDLED: Final = EmbeddingModel(
    name="bundled/use-multilingual-v3",
    dimensions=512,
    languages="16: ar de en es fr it ja ko nl pl pt ru th tr zh zh-tw",
    # Somebody waits for a question, and an assembly has 100 ms.
    query_windows=WindowLimits(max_windows=2, window_words=200, window_chars=1_000),
    # The model takes 0.07 ms a word and, in the worst scripts, 0.05 ms a character: such a text costs 60 ms
    # of English and 0.27 s of Chinese. Above that its cost rises faster than the length (1 MB: 37 s).
    document_windows=WindowLimits(max_windows=5, window_words=200, window_chars=1_000),
    calibration=calibrated((0.35, 0.92), CosineMap()),
)

E5: Final = EmbeddingModel(
    name="e5/multilingual-e5-small-q4",
    dimensions=384,
    languages="about 100, Czech among them",
    # 1.6 ms a token on one core: 500 characters are 0.2 s of English and up to 0.8 s of emoji.
    query_windows=WindowLimits(max_windows=1, window_words=100, window_chars=500),
    document_windows=WindowLimits(max_windows=5, window_words=100, window_chars=500),
    # `RICORDO_EMBEDDER=e5 ricordo calibrate`. On 100 questions about 300 facts its relevance then behaves like
    # the bundled model's: .79 of the right facts above the floor (.81), and 19.8 others a question (20.2).
    calibration=calibrated((0.84, 0.99), CosineMap(1.068, -0.031)),
)

SERVED_QUERY_WINDOWS: Final = WindowLimits(max_windows=1, window_words=200, window_chars=1_000)
SERVED_DOCUMENT_WINDOWS: Final = WindowLimits(max_windows=8, window_words=200, window_chars=1_000)
"""For models behind a server, and for bge-m3 wherever it runs, so that both give the same vectors.

A window is below 512 tokens, the limit of the smaller models, in every script but the East Asian ones.
"""

BGE_M3: Final = EmbeddingModel(
    name="bge-m3",
    dimensions=1_024,
    languages="more than 100",
    query_windows=SERVED_QUERY_WINDOWS,
    document_windows=SERVED_DOCUMENT_WINDOWS,
    # The band is the design's. The cosine map is a guess: the two models that were measured need next to none.
    calibration=calibrated((0.75, 0.92), CosineMap()),
)

KNOWN: Final[Mapping[str, EmbeddingModel]] = MappingProxyType({model.name: model for model in (BUNDLED, E5, BGE_M3)})
