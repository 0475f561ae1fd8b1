"""What goes into extraction, and what comes out."""

from dataclasses import dataclass
from enum import StrEnum

from app.domain.entries import Author, Category, Claim, Content


class Tense(StrEnum):
    """When what is said holds, seen from when it was said."""

    PAST = "past"
    PRESENT = "present"
    FUTURE = "future"


@dataclass(frozen=True, slots=True)
class Said:
    """One message of one author.

    Attributes:
        id: As the platform or the caller names it; proposals cite it.
        scope: Of the session; "" is everywhere.
    """

    id: str
    text: str
    author: Author | None = None
    session: str | None = None
    scope: str = ""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A memory that a message gives rise to.

    Attributes:
        message: The id of the message.
        start: The first character of the message that supports it.
        end: One past the last; `text` is what stands between, unless a model put it in other words.
        text: What is remembered. "I", "my" and "we" are the author's.
        claim: What it asserts now; None when it asserts nothing that can be compared, or what was or will be.
        importance: In [0, 1].
        confidence: In [0, 1]: lower for guesses, higher when its author asked to remember it.
        negated: It says that something is not so.
        wished: Its author asked to remember it.
    """

    message: str
    start: int
    end: int
    text: str
    category: Category
    claim: Claim | None
    importance: float
    confidence: float
    tense: Tense = Tense.PRESENT
    negated: bool = False
    wished: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.end:
            raise ValueError(f"0 <= start < end, got {self.start} and {self.end}")
        if not self.text or not (0 <= self.importance <= 1 and 0 <= self.confidence <= 1):
            raise ValueError("a proposal has a text, and importance and confidence in [0, 1]")


@dataclass(frozen=True, slots=True)
class Extracted:
    """What one message gives.

    Attributes:
        proposals: In the order of the message; statements of one sentence may share its end.
        language: The language whose rules read it ("en", "it", "cs"), or "model"; None when no rules know its language:
            such a message is kept as it is, and stays searchable.
    """

    proposals: tuple[Proposal, ...]
    language: str | None


def content_of(proposal: Proposal, said: Said) -> Content:
    """The memory that a proposal is, as it is stored: attributed to the author, citing the message, in its scope."""
    return Content(
        text=proposal.text,
        category=proposal.category,
        scope=said.scope,
        claim=proposal.claim,
        claim_derived=proposal.claim is not None,
        importance=proposal.importance,
        confidence=proposal.confidence,
        author=said.author,
        session=said.session,
        source=said.id,
    )
