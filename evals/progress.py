"""Progress with an estimate, on standard error."""

import sys
import time
from dataclasses import dataclass, field

_EVERY_SECONDS = 2.0


@dataclass(slots=True)
class Progress:
    """Counts work, in milliseconds that it is guessed to take; the estimate scales the guess by what was seen."""

    total: float
    done: float = 0.0
    started: float = field(default_factory=time.perf_counter)
    shown: float = 0.0

    def step(self, work: float, what: str) -> None:
        """Some work is done; a line every two seconds."""
        self.done += work
        now = time.perf_counter()
        if now - self.shown < _EVERY_SECONDS:
            return
        self.shown = now
        elapsed = now - self.started
        left = elapsed * (self.total - self.done) / self.done
        say(f"{self.done / self.total:4.0%}  {what}, {elapsed:.0f} s, about {max(left, 0):.0f} s left")


def say(line: str) -> None:
    """A line for whoever waits."""
    print(line, file=sys.stderr, flush=True)
