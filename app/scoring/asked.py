"""A question, as one embedding model hears it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.scoring.relevance import Calibration


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """A question for the spaces that one model of the store serves.

    Attributes:
        vector: The unit vector of the question, shape (d,); None for an empty one, and if the model fails or is late.
    """

    model_id: int
    vector: NDArray[np.float32] | None
    calibration: Calibration
