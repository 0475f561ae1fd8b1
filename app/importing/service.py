"""The shell of imports: items are checked by the API's own models and written through its use cases, in portions."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby, islice
from typing import Final
from uuid import UUID

from pydantic import ValidationError

from app.domain.callers import Caller
from app.domain.errors import ConflictError, InvalidInputError
from app.entries.arrivals import Arrival, Arrived
from app.entries.tombstones import erased_block_mark
from app.importing.items import Bad, Block, BrokenFileError, Exchange, Fact, Item, LeftOut, Said, mark_of
from app.importing.values import label
from app.runtime import Runtime
from app.schemas.common import wire_time
from app.schemas.entries import MemoryBody
from app.schemas.problems import field_errors
from app.schemas.soul import SoulBody
from app.schemas.turns import PostedMessage, TurnBody

_AT_ONCE: Final = 100

Report = Callable[[Bad], None]
"""Told of everything that is bad, while it is found."""


@dataclass(slots=True)
class Outcome:
    """What an import did, or would do.

    Attributes:
        read: Items that were read so far.
        known: Messages, entries and blocks that came before.
        forgotten: Those that were forgotten here, or put right.
        unfit: Soul blocks that are stored inactive because they do not fit.
    """

    read: int = 0
    turns: int = 0
    messages: int = 0
    memories: int = 0
    blocks: int = 0
    known: int = 0
    forgotten: int = 0
    left_out: int = 0
    cut: int = 0
    bad: int = 0
    unfit: list[str] = field(default_factory=list)

    def lines(self, *, dry_run: bool) -> Iterator[str]:
        """What there is to say, for the operator."""
        said = f"{self.messages:,} messages in {self.turns:,} turns"
        kept = f"{self.memories:,} memories, {self.blocks:,} soul blocks"
        yield f"{'Would bring' if dry_run else 'Brought'}: {said}, {kept}."
        rest = {
            "here already": self.known,
            "forgotten or put right here": self.forgotten,
            "left out on purpose": self.left_out,
            "texts cut to 20,000 characters": self.cut,
            "bad": self.bad,
        }
        if any(rest.values()):
            yield "Beside: " + ", ".join(f"{count:,} {what}" for what, count in rest.items() if count) + "."
        for name in self.unfit:
            yield f"The soul block {name} does not fit: it is stored inactive, and its paragraphs are lore."


@dataclass(slots=True)
class Import:
    """One import of one file; with no runtime it only says what it would do."""

    caller: Caller | None
    runtime: Runtime | None
    now: datetime
    report: Report
    done: Outcome = field(default_factory=Outcome)

    async def bring(self, items: Iterator[Item], progress: Callable[[Outcome], None]) -> Outcome:
        """Write items portion by portion, in their order. Each portion that is written stays, whatever comes after it.

        Raises:
            BrokenFileError: If the file breaks off; what came before it was written.
            UnavailableError: If the store or the embedder does not answer.
        """
        broken: BrokenFileError | None = None
        while broken is None:
            portion, broken = _portion(items)
            for _, alike in groupby(portion, key=lambda one: (type(one), getattr(one, "space", ""))):
                await self._write(list(alike))
            self.done.read += len(portion)
            progress(self.done)
            if len(portion) < _AT_ONCE:
                break
        if broken is not None:
            raise broken
        return self.done

    async def _write(self, alike: Sequence[Item]) -> None:
        exchanges = [one for one in alike if isinstance(one, Exchange)]
        facts = [checked for one in alike if isinstance(one, Fact) and (checked := self._fact(one))]
        if exchanges:
            await self._say(exchanges)
        if facts:
            await self._remember(facts[0][0].space, [arrival for _, arrival in facts])
        for one in alike:
            if isinstance(one, Block):
                await self._shape(one)
            elif isinstance(one, Bad):
                self._bad(one)
            elif isinstance(one, LeftOut):
                self.done.left_out += 1

    def _bad(self, bad: Bad) -> None:
        self.done.bad += 1
        self.report(bad)

    def _fact(self, fact: Fact) -> tuple[Fact, Arrival] | None:
        try:
            body = MemoryBody.model_validate({"space": fact.space, **fact.body})
        except ValidationError as error:
            self._bad(Bad(fact.where, _why(error)))
            return None
        return fact, Arrival(fact.mark, body.to_content(), fact.learnt_at)

    async def _remember(self, space: str, arrivals: Sequence[Arrival]) -> None:
        if self.runtime is None or self.caller is None:
            self.done.memories += len(arrivals)
            return
        known = await self.runtime.arrivals.known(self.caller.space(space), [one.mark for one in arrivals])
        fresh = {one.mark: one for one in arrivals if one.mark not in known}
        became = await self.runtime.entries.bring(self.caller, space, list(fresh.values())) if fresh else ()
        self.done.memories += became.count(Arrived.WRITTEN)
        self.done.forgotten += became.count(Arrived.FORGOTTEN)
        self.done.known += len(arrivals) - len(fresh) + became.count(Arrived.KNOWN)

    async def _say(self, exchanges: Sequence[Exchange]) -> None:
        """Store what was said, but for messages that came before, that were forgotten, or that cannot be stored."""
        space = exchanges[0].space
        said = [one for exchange in exchanges for one in exchange.said]
        known: frozenset[UUID] = frozenset()
        buried: dict[str, str] = {}
        done: list[UUID] = []
        if self.runtime is not None and self.caller is not None:
            address = self.caller.space(space)
            known = await self.runtime.arrivals.known(address, [one.mark for one in said])
            texts = [one.body.get("text", "") for one in said if one.mark not in known]
            stones = await self.runtime.arrivals.forgotten(address, texts)
            buried = {text: wire_time(at) for text, at in stones.items()}
        for exchange in exchanges:
            fresh = [one for one in exchange.said if one.mark not in known]
            self.done.known += len(exchange.said) - len(fresh)
            kept = [one for one in fresh if not _is_buried(one, buried)]
            self.done.forgotten += len(fresh) - len(kept)
            done += [one.mark for one in fresh if one not in kept]
            sound = [one for one in kept if self._is_sound(one)]
            if sound and await self._post(exchange, sound):
                done += [one.mark for one in sound]
        if self.runtime is not None and self.caller is not None:
            await self.runtime.arrivals.note(self.caller.space(space), done)

    def _is_sound(self, said: Said) -> bool:
        try:
            PostedMessage.model_validate(said.body)
        except ValidationError as error:
            self._bad(Bad(said.where, _why(error)))
            return False
        return True

    async def _post(self, exchange: Exchange, said: Sequence[Said]) -> bool:
        """Store a turn; whether it could be."""
        place = "stream" if exchange.space.startswith("stream:") else "space"
        body = {
            place: exchange.space,
            "session": exchange.session,
            "id": f"import:{said[0].mark}",
            "messages": [one.body for one in said],
        }
        try:
            turn = TurnBody.model_validate(body)
            if self.runtime is not None and self.caller is not None:
                await self.runtime.turns.post(self.caller, turn.to_domain(), self.now)
        except (ValidationError, ConflictError, InvalidInputError) as error:
            self._bad(Bad(said[0].where, _why(error)))
            return False
        self.done.turns += 1
        self.done.messages += len(said)
        self.done.cut += sum(one.cut for one in said)
        return True

    async def _shape(self, block: Block) -> None:
        """Make a soul block unless there is one of its name. One that is never served, or does not fit, is inactive."""
        try:
            body = SoulBody.model_validate(
                {"space": block.space, "name": block.name, "text": block.text, "active": bool(block.lore)}
            )
        except ValidationError as error:
            self._bad(Bad(block.where, _why(error)))
            return
        if self.runtime is None or self.caller is None:
            self.done.blocks += 1
            return
        soul, arrivals, space = self.runtime.soul, self.runtime.arrivals, self.caller.space(block.space)
        mark = mark_of("block", block.space, block.name, block.text)
        if await arrivals.known(space, [mark]) or block.name in {known.name for known in await soul.blocks(space)}:
            self.done.known += 1
            return
        if await arrivals.forgotten(space, [block.text], erased_block_mark):
            self.done.forgotten += 1
            return
        try:
            await soul.create(self.caller, block.space, body.to_draft())
        except InvalidInputError:
            paragraphs = [fact for one in _paragraphs(block) if (fact := self._fact(one))]
            await self._remember(block.lore, [arrival for _, arrival in paragraphs])
            await soul.create(self.caller, block.space, body.model_copy(update={"active": False}).to_draft())
            self.done.unfit.append(block.name)
        await arrivals.note(space, [mark])
        self.done.blocks += 1


def _portion(items: Iterator[Item]) -> tuple[list[Item], BrokenFileError | None]:
    """The next items, and why there are no more if the file breaks off."""
    portion: list[Item] = []
    try:
        portion.extend(islice(items, _AT_ONCE))  # extend keeps what came before an error
    except BrokenFileError as error:
        return portion, error
    return portion, None


def _is_buried(said: Said, buried: Mapping[str, str]) -> bool:
    """Whether it was said before its words were forgotten; what says no time is taken to be old."""
    since = buried.get(said.body.get("text", ""))
    return since is not None and said.body.get("at", "") <= since


def _paragraphs(block: Block) -> Iterator[Fact]:
    for number, paragraph in enumerate(block.text.split("\n\n")):
        if paragraph.strip():
            mark = mark_of("paragraph", block.lore, block.name, paragraph)
            body = {"text": paragraph.strip(), "source": label(f"card:{block.name}")}
            yield Fact(f"{block.where}, paragraph {number + 1}", block.lore, mark, body)


def _why(error: Exception) -> str:
    """What is wrong, by field and limit; no text is quoted."""
    if isinstance(error, ValidationError):
        return "; ".join(f"{one.field}: {one.message}" for one in field_errors(error.errors()))
    return str(error)
