"""What `ricordo calibrate` prints."""

from collections.abc import Iterator, Mapping

import orjson

from app.embedding.measure import PERCENTILES, Measured
from app.embedding.models import EmbeddingModel
from app.embedding.pairs import Relation


def report(model: EmbeddingModel, measured: Measured) -> str:
    """Tables of percentiles, and the setting to copy."""
    lower, upper = measured.band
    setting = {
        "dimensions": measured.dimensions,
        "band": measured.band,
        "scale": measured.cosines.scale,
        "shift": measured.cosines.shift,
    }
    return "\n".join(
        (
            f"{model.name}, {measured.dimensions} dimensions",
            "",
            *_table("cosine of statements", measured.raw),
            "",
            *_table("centred cosine of a question and a statement", measured.centred),
            "",
            f"Contradictions lie between {lower:.2f} and {upper:.2f}: what stands for bge-m3's 0.75 to 0.92.",
            "",
            f"RICORDO_EMBEDDER_CALIBRATION='{orjson.dumps(setting).decode()}'",
        )
    )


def _table(title: str, percentiles: Mapping[Relation, tuple[float, ...]]) -> Iterator[str]:
    width = max(len(title), *map(len, Relation))
    yield title.ljust(width) + "".join(f"{f'p{p}':>8}" for p in PERCENTILES)
    for relation, values in percentiles.items():
        yield relation.value.ljust(width) + "".join(f"{value:8.2f}" for value in values)
