"""What is measured once for each model: the relevance map, and the band in which contradictions lie."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from app.contradictions.detect import SimilarityBand
from app.scoring.relevance import Calibration


@dataclass(frozen=True, slots=True)
class ModelCalibration:
    """The constants of one embedding model."""

    relevance: Calibration
    band: SimilarityBand


CALIBRATIONS: Mapping[str, ModelCalibration] = MappingProxyType(
    {"bundled/use-multilingual-v3": ModelCalibration(Calibration(), SimilarityBand(0.35, 0.92))}
)
"""By the model's name. The bundled model's band stands for bge-m3's 0.75 to 0.92."""
