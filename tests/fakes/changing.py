"""Two small models to change between, by the kinds that the settings know."""

import asyncio
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from app.contradictions.detect import SimilarityBand
from app.embedding.calibration import ModelCalibration
from app.embedding.factory import EmbedderSetupError
from app.scoring.relevance import Calibration
from tests.fakes.embedder import HashedEmbedder

DIMENSIONS = {"bundled": 64, "e5": 48}
CALIBRATION = ModelCalibration(Calibration(), SimilarityBand(0.35, 0.92))


class SlowEmbedder(HashedEmbedder):
    """Takes a while for every text, as real ones do."""

    def __init__(self, dimensions: int, text_seconds: float) -> None:
        super().__init__(dimensions)
        self._text_seconds = text_seconds

    async def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        await asyncio.sleep(self._text_seconds * len(texts))
        return await super().embed_documents(texts)


def build_fake(settings, kind, options):
    """Builds the fake of a kind: what `open_runtime_with` and `move` take for building models."""
    if kind not in DIMENSIONS:
        raise EmbedderSetupError(f"there is no fake of {kind}")
    return SlowEmbedder(DIMENSIONS[kind], options.get("text_seconds") or 0), CALIBRATION
