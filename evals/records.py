"""What every data set is turned into: documents, and questions whose evidence is known."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Document:
    """Something that is remembered.

    Attributes:
        key: What evidence names. The parts of a text that is too long for one entry share it.
        session: The session it belongs to; "" where there are none.
        at: When it was said, if that is known.
        author: Who said it; "" where that is not known.
        context: What was said just before it, in the same session.
    """

    key: str
    text: str
    session: str = ""
    at: datetime | None = None
    author: str = ""
    context: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """Something that is asked.

    Attributes:
        evidence: One set for each piece of evidence; a piece is found when any of its keys is.
        sessions: The sessions that hold the evidence.
        kind: The type of question as the data set has it.
        at: When it is asked; None where the data do not say.
    """

    text: str
    evidence: tuple[frozenset[str], ...] = ()
    sessions: frozenset[str] = frozenset()
    kind: str = ""
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Corpus:
    """The documents of one space, and what is asked about them."""

    name: str
    documents: tuple[Document, ...]
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two sentences, and whether they cannot both hold.

    Attributes:
        groups: The figures that it counts for.
        kind: What the pair differs in, or "".
    """

    earlier: str
    later: str
    contradicts: bool
    groups: tuple[str, ...]
    kind: str = ""
