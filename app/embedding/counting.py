"""How much an embedder has done since it was made: what its metrics are read from."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class BatchCounts:
    """Batches that a model was given: how many, with how many windows of texts, and the seconds they took."""

    batches: int = 0
    texts: int = 0
    seconds: float = 0.0

    def plus(self, texts: int, seconds: float) -> "BatchCounts":
        """With one batch more."""
        return BatchCounts(self.batches + 1, self.texts + texts, self.seconds + seconds)


@dataclass(slots=True)
class Asked:
    """Questions whose vectors were known or on their way (`hits`), or had to be computed (`misses`)."""

    hits: int = 0
    misses: int = 0


@runtime_checkable
class CountsBatches(Protocol):
    """An embedder that counts."""

    @property
    def counts(self) -> BatchCounts:
        """Batches until now."""
        ...

    @property
    def asked(self) -> Asked:
        """Questions until now."""
        ...
