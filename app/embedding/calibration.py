"""What is measured once for each model: the relevance map, and the band in which contradictions lie."""

from dataclasses import dataclass

from app.contradictions.detect import SimilarityBand
from app.scoring.relevance import Calibration


@dataclass(frozen=True, slots=True)
class ModelCalibration:
    """The constants of one embedding model."""

    relevance: Calibration
    band: SimilarityBand


@dataclass(frozen=True, slots=True)
class CosineMap:
    """A line that takes a model's centred cosines to those that the bundled model gives the same pairs.

    The relevance map was tuned for the bundled model; through this line it serves every other one.

    Attributes:
        scale: > 0.
        shift: Added after scaling.
    """

    scale: float = 1.0
    shift: float = 0.0

    def __post_init__(self) -> None:
        if not self.scale > 0:
            raise ValueError(f"the scale of a cosine map must be > 0, got {self.scale}")

    def relevance(self) -> Calibration:
        """The bundled model's relevance map, taking this model's cosines.

        With c' = scale * c + shift, steepness * (c' + offset)² is
        (steepness * scale²) * (c + (offset + shift) / scale)²; the keyword arm keeps its share. An offset
        below 0 is taken for 0: cosines below 0 never count.

        Raises:
            ValueError: If the offset is 1 or more.
        """
        tuned = Calibration()
        return Calibration(
            cosine_offset=max((tuned.cosine_offset + self.shift) / self.scale, 0.0),
            keyword_weight=tuned.keyword_weight / self.scale**2,
            bm25_scale=tuned.bm25_scale,
            keyword_power=tuned.keyword_power,
            steepness=tuned.steepness * self.scale**2,
        )


def calibrated(band: tuple[float, float], cosines: CosineMap) -> ModelCalibration:
    """The constants that `ricordo calibrate` measures, as the pipeline takes them."""
    return ModelCalibration(cosines.relevance(), SimilarityBand(*band))
