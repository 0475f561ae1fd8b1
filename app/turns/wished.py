"""What the people of a turn wish of their memory, and whose wishes count. Pure."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from app.domain.evidence import MessageVersion
from app.turns.documents import heard, session_label
from app.turns.records import Message, Speaker, Turn
from app.turns.remembered import Spoken, is_shared, owner_speaks, without
from app.turns.wishes import Wish, Wishes, Wishful

OF_OTHERS: Final = "left alone, being about somebody else"
NOT_HEARD: Final = "left alone, not being said by the person whose memory it is"
BARRED: Final = "left alone, because records hold the turn"

_BEFORE: Final = 6
"""So many messages before a wish may say what it is about."""


@dataclass(frozen=True, slots=True)
class Wished:
    """The wishes of a turn.

    Attributes:
        messages: Those with wishes that count, with the space that they are about.
        ignored: How many wishes do not count, by why.
        answers: Messages without a wish that may answer a question of the turn before, likewise.
    """

    messages: tuple[tuple[str, Message, Wishful], ...]
    ignored: Mapping[str, int]
    answers: tuple[tuple[str, Message, Wishful], ...] = ()

    @classmethod
    def of(cls, turn: Turn, read: Sequence[Spoken], wishes: Wishes) -> "Wished":
        """Look for wishes in what everybody says; those of the people whose memory it is count."""
        found = {one.id: wishes.find(text) for one in turn.messages if (text := _own_words(one))}
        shared = is_shared(read, turn)
        counting = {} if shared else {one.message.id: one for one in read}
        known = owner_speaks(read, turn)
        ignored = {BARRED if turn.barred else NOT_HEARD: 0}
        messages, answers = [], []
        for message in turn.messages:
            wanted = found.get(message.id, ())
            one = counting.get(message.id)
            if wanted and one is not None:
                messages.append((one.space, message, _wishful(turn, one, wanted, known=known)))
            elif one is not None:
                if turn.before and wishes.may_answer(one.said.text):
                    whole = Wish(b"", 0, len(one.said.text), one.said.text)
                    answers.append((one.space, message, _wishful(turn, one, (whole,), known=known)))
            else:  # what only may be a correction is talk until somebody whose memory it is says so
                ignored[BARRED if turn.barred else NOT_HEARD] += sum(wish.forgets for wish in wanted)
        return cls(tuple(messages), ignored, tuple(answers))

    @property
    def spaces(self) -> tuple[str, ...]:
        """The spaces that they are about."""
        return tuple(dict.fromkeys(space for space, _, _ in self.messages))

    @property
    def answered(self) -> tuple[str, ...]:
        """The spaces in which a question may be answered."""
        return tuple(dict.fromkeys(space for space, _, _ in self.answers))

    def answers_in(self, name: str) -> tuple[Wishful, ...]:
        """The messages that may answer a question of one space."""
        return tuple(wishful for space, _, wishful in self.answers if space == name)

    def of_space(self, name: str) -> tuple[Wishful, ...]:
        """Those about one space, in the order of the turn."""
        return tuple(wishful for space, _, wishful in self.messages if space == name)

    def parted(self, read: Sequence[Spoken]) -> tuple[tuple[Spoken, ...], tuple[Spoken, ...]]:
        """What was said before the first wish, and the rest: what is put right may have been said in the same turn."""
        first = min((message.position for _, message, _ in self.messages), default=0)
        early = tuple(one for one in read if one.message.position < first)
        return early, tuple(one for one in read if one.message.position >= first)

    def others(self, read: Sequence[Spoken], granted: Collection[tuple[UUID, bytes]]) -> tuple[Spoken, ...]:
        """What was said beside the wishes that were heard."""
        spans = {
            message.id: [(w.start, w.end) for w in wishful.wishes if (message.id.uuid, w.key) in granted]
            for _, message, wishful in (*self.messages, *self.answers)
        }
        left = (without(one, spans.get(one.message.id, ())) for one in read)
        return tuple(one for one in left if any(char.isalnum() for char in one.said.text))


def _own_words(message: Message) -> str:
    return heard(message) if message.role is Speaker.USER and message.event is None else ""


def _wishful(turn: Turn, one: Spoken, wishes: tuple[Wish, ...], *, known: bool) -> Wishful:
    message = one.message
    before = (*turn.before, *(m for m in turn.messages if m.position < message.position))
    texts = tuple(text for m in before[-_BEFORE:] if (text := heard(m)))
    return Wishful(
        message=MessageVersion(message.id.uuid, message.version),
        said_at=one.said_at,
        author=None if known else one.said.author,
        session=session_label(turn),
        scope=turn.scope,
        before=texts,
        wishes=wishes,
    )
