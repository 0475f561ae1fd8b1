"""What people wish of their memory in a conversation, done by the code of POST /corrections and POST /forget."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from uuid import UUID

from app.corrections.answering import chosen_by, may_answer
from app.corrections.decide import Known, decide
from app.corrections.heard import is_meant, is_of_speaker, wishes
from app.corrections.pending import wanted_from
from app.corrections.ports import CorrectionUnit
from app.corrections.reading import Reading, read
from app.corrections.records import Correction, Origin, Wanted
from app.corrections.service import CorrectionService, known_of
from app.domain.entries import Author, Entry
from app.domain.evidence import MessageVersion
from app.domain.ids import PublicId
from app.domain.spaces import SpaceKey
from app.entries.remember import take_back
from app.entries.repeat import same_author
from app.entries.service import index_contents
from app.turns.ports import Source
from app.turns.wishes import Granted, Wish, Wishful

Place = tuple[UUID, bytes]
"""A message and one of its sentences."""


@dataclass(frozen=True, slots=True)
class _Wanted:
    """One wish, as it was read."""

    wanted: Wanted
    origin: Origin
    wish: Wish
    message: Wishful
    reading: Reading


@dataclass(frozen=True, slots=True)
class ConversationWishes:
    """Finds and carries out what people wish in turns."""

    corrections: CorrectionService

    def find(self, text: str) -> tuple[Wish, ...]:
        """The sentences of a message that may be wishes."""
        return wishes(text)

    async def grant(
        self,
        space: SpaceKey,
        turn: Source,
        standing: frozenset[MessageVersion],
        messages: Sequence[Wishful],
        *,
        erase: bool,
    ) -> Granted | None:
        """Do what is wished, once, and take back what is not said any more; None if the turn has changed."""
        wanted = [_read(space, turn, message, wish) for message in messages for wish in message.wishes]
        erases = any(one.wish.forgets for one in wanted)
        async with self.corrections.store.unit(space, erases=erases) as unit:
            if await unit.revision(turn.id) != turn.revision:
                return None
            origins = {one.origin.place: one.origin for one in wanted}
            heard = await self._bring_up(unit, turn, standing, origins, erase=erase)
            done: list[Correction] = []
            left = 0
            for one in wanted:
                if one.origin.place in heard:
                    continue
                correction, is_others = await self._grant(unit, space, one)
                left += is_others
                if one.wish.forgets or correction is not None:  # a wish to be forgotten is nothing to remember
                    heard.add(one.origin.place)
                done += [correction] if correction is not None else []
        return Granted(frozenset(heard), tuple(one.outcome.value for one in done), left)

    def may_answer(self, text: str) -> bool:
        """Whether a message may answer a question."""
        return may_answer(text)

    async def answer(
        self, space: SpaceKey, asked_in: PublicId, turn: Source, messages: Sequence[Wishful]
    ) -> Granted | None:
        """Take the answer to the one question that came of a turn, if a message names exactly one of its options."""
        if not await self.corrections.store.is_asked(space, asked_in):
            return Granted(frozenset())
        async with self.corrections.store.unit(space, erases=True) as unit:
            if await unit.revision(turn.id) != turn.revision:
                return None
            questions = await unit.questions_of(asked_in)
            if len(questions) != 1 or questions[0].asked is None:
                return Granted(frozenset())
            wanted = wanted_from(questions[0].asked, space)
            for message in messages:
                option = chosen_by(message.wishes[0].text, questions[0].options)
                if option is not None and _is_asked(wanted, message.author):
                    done = await self.corrections.answered(unit, questions[0], wanted, option)
                    return Granted(frozenset({(message.message.message, message.wishes[0].key)}), (done.outcome.value,))
        return Granted(frozenset())

    async def _grant(self, unit: CorrectionUnit, space: SpaceKey, one: _Wanted) -> tuple[Correction | None, bool]:
        """What came of a wish, if it is one; and whether it was left alone, because it is about somebody else."""
        known = _of_author(await known_of(unit, one.wanted, one.reading), one.message.author)
        decision = decide(one.wanted, one.reading, known)
        if not is_meant(one.wish, one.reading, decision, known, one.message.before):
            return None, False
        if space.name.startswith("viewer:") and not is_of_speaker(one.reading):
            return None, True
        return await self.corrections.do(unit, one.wanted, one.reading, decision), False

    async def _bring_up(
        self,
        unit: CorrectionUnit,
        turn: Source,
        standing: frozenset[MessageVersion],
        origins: Mapping[Place, Origin],
        *,
        erase: bool,
    ) -> set[Place]:
        """Take back what is not said any more; returns the sentences of which something has come already."""
        kept = {(one.of.message, one.key): one for one in await unit.evidence_of_turn(turn.id) if one.corrects}
        told = {one.place: one for one in await unit.said_in(turn.id)}
        gone = {
            place
            for place, of in [*((p, k.of) for p, k in kept.items()), *((p, o.message) for p, o in told.items())]
            if of not in standing and place not in origins
        }
        again = [(kept[place], origins[place]) for place in kept if place in origins]
        await unit.keep_evidence([replace(one, of=origin.message) for one, origin in again])
        stale = [kept[place] for place in kept if place in gone and kept[place].content is not None]
        await take_back(unit, stale, partial(index_contents, self.corrections.embedders), erase=erase)
        await unit.exhume_by([one.entry for one in stale])
        await unit.follow([origins[place] for place in told if place in origins])
        await unit.drop_said([told[place] for place in told if place in gone])
        return (kept.keys() | told.keys()) - gone


def _read(space: SpaceKey, turn: Source, message: Wishful, wish: Wish) -> _Wanted:
    reading = read(wish.text)
    origin = Origin(turn.id, message.message, wish.key, message.said_at)
    wanted = Wanted(
        space=space,
        scopes=(message.scope,) if message.scope else (),
        said=wish.text,
        valid_from=message.said_at,
        actor=message.author,
        session=message.session,
        source=str(turn.id),
        origin=origin,
    )
    return _Wanted(wanted, origin, wish, message, replace(reading, denies=reading.denies or wish.denied))


def _is_asked(wanted: Wanted, author: Author | None) -> bool:
    """Whether a question was put to an author: to whoever's the space is, or to that very author."""
    return wanted.actor is None if author is None else wanted.actor is not None and same_author(wanted.actor, author)


def _of_author(known: Known, author: Author | None) -> Known:
    """What an author may put right or have forgotten: their own words, and those of nobody in particular."""
    if author is None:
        return known
    last = known.last if known.last is not None and _is_own(known.last, author) else None
    return Known(tuple(entry for entry in known.entries if _is_own(entry, author)), last)


def _is_own(entry: Entry, author: Author) -> bool:
    return entry.content.author is None or same_author(entry.content.author, author)
