"""What the workers do. Every task reads what was said now and brings something derived up to it.

So a task may run any number of times, in any order, after any crash: what comes out is the same.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from app.domain.evidence import Evidence, MessageVersion
from app.domain.ids import IdKind, PublicId
from app.domain.spaces import SpaceKey
from app.text.terms import MAX_DOCUMENT_TERMS, document_terms, term_hash
from app.turns.documents import episode_content, heard, personal_content, personal_documents
from app.turns.ports import (
    Handler,
    JobOptions,
    Keeper,
    Reader,
    Rememberer,
    Source,
    Summariser,
    TurnStore,
    WorkingMemory,
)
from app.turns.records import Conversation, Message, Task, Turn
from app.turns.remembered import Spoken, evidence, spaces_of, spoken
from app.turns.summary import Summary, summarise, summary_content
from app.turns.wished import OF_OTHERS, Wished
from app.turns.wishes import Wishes

_TRIES: Final = 10
"""How often something may change while it is worked on before the job is put off."""


class OvertakenError(TimeoutError):
    """What a job worked on was changed again and again meanwhile."""


@dataclass(frozen=True, slots=True)
class TurnTasks:
    """The tasks, over what they need."""

    store: TurnStore
    keeper: Keeper
    working: WorkingMemory
    rememberer: Rememberer
    reader: Reader
    wishes: Wishes
    now: Callable[[], datetime]
    summariser: Summariser | None = None

    @property
    def handlers(self) -> Mapping[Task, Handler]:
        """Who does what."""
        return {
            Task.HISTORY: self.history,
            Task.EPISODE: self.episode,
            Task.PERSONAL: self.personal,
            Task.MEMORIES: self.memories,
            Task.SUMMARY: self.summary,
        }

    async def history(self, tenant_id: UUID, subject: PublicId, options: JobOptions) -> None:
        """Make the messages of a turn searchable, and bring working memory up to them."""
        del options
        for _ in range(_TRIES):
            turn = await self.store.turn(tenant_id, subject)
            if turn is None or await self.store.index(tenant_id, turn, _terms(turn)):
                break
        else:
            raise OvertakenError(str(subject))
        if turn is not None:
            await self.working.refresh(tenant_id, turn.session)

    async def episode(self, tenant_id: UUID, subject: PublicId, options: JobOptions) -> None:
        """Keep the whole turn as an episode of the space in which it was said."""
        for _ in range(_TRIES):
            turn = await self.store.turn(tenant_id, subject)
            if turn is None:
                return
            episode = PublicId(subject.uuid, subject.space_id, IdKind.EPISODE)
            space, source = SpaceKey(tenant_id, turn.space), Source(subject, turn.revision)
            if await self.keeper.keep(space, episode, episode_content(turn), source, erase=options.erase):
                return
        raise OvertakenError(str(subject))

    async def personal(self, tenant_id: UUID, subject: PublicId, options: JobOptions) -> str | None:
        """Keep each author's own words in that author's own space; says whom a barrier kept out."""
        for _ in range(_TRIES):
            turn = await self.store.turn(tenant_id, subject)
            if turn is None:
                return None
            if await self._personal(tenant_id, turn, options):
                return _kept_out(turn)
        raise OvertakenError(str(subject))

    async def _personal(self, tenant_id: UUID, turn: Turn, options: JobOptions) -> bool:
        documents = {d.space: personal_content(turn, d) for d in personal_documents(turn) if d.space != turn.space}
        for name in dict.fromkeys(m.personal_space for m in turn.messages if m.personal_space):
            space = SpaceKey(tenant_id, name)
            entry_id = PublicId(turn.id.uuid, space.space_id, IdKind.EPISODE)
            source = Source(turn.id, turn.revision)
            if not await self.keeper.keep(space, entry_id, documents.get(name), source, erase=options.erase):
                return False
        return True

    async def memories(self, tenant_id: UUID, subject: PublicId, options: JobOptions) -> str | None:
        """Keep what each author says of lasting interest as memories of that author's own space.

        What an author wishes to be put right or forgotten is done instead; says how much of that there was.
        """
        outcomes: Counter[str] = Counter()
        for _ in range(_TRIES):
            turn = await self.store.turn(tenant_id, subject)
            if turn is None or await self._memories(tenant_id, turn, options, outcomes):
                return "; ".join(f"{name}: {count}" for name, count in sorted(outcomes.items()) if count) or None
        raise OvertakenError(str(subject))

    async def _memories(self, tenant_id: UUID, turn: Turn, options: JobOptions, outcomes: Counter[str]) -> bool:
        """Whether it is done; if not, the turn has changed meanwhile, as when something said in it is forgotten.

        Args:
            outcomes: What came of wishes is counted here.
        """
        read = spoken(turn)
        standing = frozenset(MessageVersion(one.message.id.uuid, one.message.version) for one in read)
        wished = Wished.of(turn, read, self.wishes)
        if wished.messages and await self.store.is_awaited(tenant_id, turn.id):
            raise OvertakenError("earlier turns are still to be remembered")
        early, rest = wished.parted(read) if turn.revision == 1 else ((), read)
        if early and not await self._remember(tenant_id, turn, early, standing, options):
            return False
        heard: set[tuple[UUID, bytes]] = set()
        names = spaces_of(turn) if turn.revision > 1 else wished.spaces
        for name in names:
            space, source = SpaceKey(tenant_id, name), Source(turn.id, turn.revision)
            granted = await self.wishes.grant(space, source, standing, wished.of_space(name), erase=options.erase)
            if granted is None:
                return False
            heard |= granted.heard
            outcomes.update(granted.outcomes)
            outcomes[OF_OTHERS] += granted.left
        for name in wished.answered:
            source = Source(turn.id, turn.revision)
            asked_in = turn.before[0].turn
            granted = await self.wishes.answer(SpaceKey(tenant_id, name), asked_in, source, wished.answers_in(name))
            if granted is None:
                return False
            heard |= granted.heard
            outcomes.update(granted.outcomes)
        if not await self._remember(tenant_id, turn, wished.others(rest, heard), standing, options):
            return False
        outcomes.update(wished.ignored)
        return True

    async def _remember(
        self,
        tenant_id: UUID,
        turn: Turn,
        read: Sequence[Spoken],
        standing: frozenset[MessageVersion],
        options: JobOptions,
    ) -> bool:
        found = await self.reader.extract(tenant_id, [one.said for one in read], self.now())
        said: defaultdict[str, list[Evidence]] = defaultdict(list)
        for one, extracted in zip(read, found, strict=True):
            said[one.space] += evidence(one, extracted)
        source = Source(turn.id, turn.revision)
        # Of a turn that never changed there is nothing to take back.
        names = spaces_of(turn) if turn.revision > 1 else [name for name, statements in said.items() if statements]
        for name in names:
            space = SpaceKey(tenant_id, name)
            if not await self.rememberer.remember(space, said[name], standing, source, erase=options.erase):
                return False
        return True

    async def summary(self, tenant_id: UUID, subject: PublicId, options: JobOptions) -> None:
        """Keep what a conversation was about as an episode of its space."""
        for _ in range(_TRIES):
            found = await self.store.conversation(tenant_id, subject)
            if found is None:
                return
            conversation, messages, revision = found
            told = await self._told(tenant_id, conversation, messages)
            content = None if told is None else summary_content(told, conversation)
            space, source = SpaceKey(tenant_id, conversation.space), Source(subject, revision)
            episode = PublicId(subject.uuid, subject.space_id, IdKind.EPISODE)
            if await self.keeper.keep(space, episode, content, source, erase=options.erase):
                await self.store.summarise(tenant_id, subject, None if told is None else told.as_json())
                return
        raise OvertakenError(str(subject))

    async def _told(self, tenant_id: UUID, conversation: Conversation, messages: tuple[Message, ...]) -> Summary | None:
        plain = summarise(conversation, messages)
        if plain is None or self.summariser is None:
            return plain
        return await self.summariser.summarise(tenant_id, plain, messages, self.now()) or plain


def _kept_out(turn: Turn) -> str | None:
    if not turn.barred:
        return None
    whom = "the whole batch" if "" in turn.barred else ", ".join(sorted(turn.barred))
    return f"kept out of personal memory, because records hold it: {whom}"


INDEXED_IN_PART: Final = term_hash("\x00in part")
"""Marks a message that says more than it is found by; nobody looks for this term."""


def _terms(turn: Turn) -> dict[PublicId, Mapping[int, float]]:
    """By which words each message is found: hashed terms to frequencies."""
    found: dict[PublicId, Mapping[int, float]] = {}
    for message in turn.messages:
        if text := heard(message):
            found[message.id] = found_by(text, is_whole=text == message.text)
    return found


def found_by(text: str, *, is_whole: bool) -> Mapping[int, float]:
    """By which words a text is found: hashed terms to frequencies.

    Args:
        is_whole: Whether it is all that its message says.
    """
    counts: defaultdict[int, float] = defaultdict(float)
    terms = document_terms(text).frequencies
    for term, tf in terms.items():
        counts[term_hash(term)] += tf
    if not is_whole or len(terms) >= MAX_DOCUMENT_TERMS:
        counts[INDEXED_IN_PART] = 0.0
    return counts
