"""The shell of corrections: locks the space, looks what may be meant, decides, and does it in one transaction."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from uuid import UUID

from app.contradictions.claims import derive_claim
from app.contradictions.resolve import scope_strength
from app.corrections.decide import Known, decide, searched
from app.corrections.pending import chosen, wanted_from, wanted_json
from app.corrections.phrases import asked, saved, say, where
from app.corrections.ports import CorrectionStore, CorrectionUnit
from app.corrections.reading import Extent, Reading, language_of, read
from app.corrections.records import (
    Answer,
    Ask,
    Confirm,
    Correction,
    Decision,
    Erase,
    Move,
    Option,
    Origin,
    Outcome,
    Refuse,
    Wanted,
    Write,
)
from app.domain.callers import Caller
from app.domain.entries import Content, Entry, Status, Tier
from app.domain.errors import ConflictError, FieldProblem, ForbiddenError, InvalidInputError, NotFoundError
from app.domain.evidence import KeptEvidence
from app.domain.idempotency import IdempotencyKey
from app.domain.ids import IdKind, PublicId
from app.domain.presence import require_presence
from app.domain.spaces import SpaceKey, visible_scopes
from app.entries.decide import Moment, Settled, claim_keys, first_version, next_version, relieved, settle, supersede
from app.entries.ports import Embedders, NewId, VersionWrite
from app.entries.repeat import same_author
from app.entries.service import index_contents
from app.entries.tombstones import Mark, value_marks
from app.forgetting.erasing import erase_named
from app.forgetting.records import Selector
from app.text.normalise import normalise_text
from app.turns.records import Turn
from app.turns.service import personal_spaces

REASON = "corrected"
_EVER = datetime(1, 1, 2, tzinfo=UTC)
"""Before anything was remembered."""


@dataclass(frozen=True, slots=True)
class CorrectionService:
    """Corrects, and takes the answers to its questions."""

    store: CorrectionStore
    embedders: Embedders
    new_id: NewId

    async def correct(
        self, caller: Caller, wanted: Wanted, idempotency: IdempotencyKey | None = None, *, dry_run: bool = False
    ) -> Correction:
        """Put something right, ask, or say why not. A dry run does it and takes it back.

        Raises:
            ForbiddenError: If the key may not write there, or the actor is not the person concerned, or not present.
            IdempotencyConflictError: If the key was used for another request.
        """
        caller.writable_space(wanted.space.name)
        require_presence(wanted.space.name, wanted.actor, wanted.batch)
        async with self.store.unit(wanted.space, keep=not dry_run, erases=_may_erase(wanted)) as unit:
            if idempotency and (earlier := await unit.corrected_before(idempotency)) is not None:
                return earlier
            correction = await self._correct(unit, wanted)
            if idempotency:
                await unit.remember_correction(idempotency, correction)
        return correction

    async def clarify(
        self, caller: Caller, question_id: PublicId, answer: Answer, idempotency: IdempotencyKey | None = None
    ) -> Correction:
        """Take the answer to a question, and do what was wanted.

        Raises:
            ForbiddenError: If the key may not write there, or it is not answered by whoever was asked.
            NotFoundError: If there is no such question within the key's reach.
            InvalidInputError: If the question offers no such answer.
            ConflictError: If it is answered already.
        """
        space = caller.writable_space(await self._space_of(caller, question_id))
        require_presence(space.name, answer.actor, answer.batch)
        async with self.store.unit(space, erases=True) as unit:
            if idempotency and (earlier := await unit.corrected_before(idempotency)) is not None:
                return earlier
            question = await unit.correction(question_id)
            if question is None or question.outcome is not Outcome.NEEDS_CLARIFICATION:
                raise NotFoundError(f"no question {question_id}")
            if question.asked is None:
                raise ConflictError(f"{question_id} is answered already")
            wanted = wanted_from(question.asked, space)
            if answer.actor and wanted.actor and not same_author(answer.actor, wanted.actor):
                raise ForbiddenError("somebody else was asked")
            correction = await self.answered(unit, question, wanted, _option(question, answer.choice))
            if idempotency:
                await unit.remember_correction(idempotency, correction)
        return correction

    async def answered(self, unit: CorrectionUnit, question: Correction, wanted: Wanted, option: Option) -> Correction:
        """Do what was wanted, as an answer says, and close the question."""
        correction = await self._correct(unit, chosen(wanted, option))
        await unit.answer(question.id, correction.id)
        return correction

    async def get(self, caller: Caller, correction_id: PublicId) -> Correction:
        """A correction.

        Raises:
            NotFoundError: If there is none within the key's reach.
        """
        kept = await self.store.find(caller.tenant_id, correction_id)
        if kept is None or not caller.may_touch(kept.space):
            raise NotFoundError(f"no correction {correction_id}")
        return kept.correction

    async def of_turn(self, caller: Caller, turn: Turn | None) -> tuple[Correction, ...]:
        """What was put right, asked and forgotten because of what was said in a turn, within the key's reach."""
        return () if turn is None else await self.store.of_turn(turn.id, personal_spaces(caller, turn))

    async def listing(
        self, space: SpaceKey, *, limit: int, before: UUID | None, open_only: bool
    ) -> tuple[Correction, ...]:
        """The corrections of a space, newest first."""
        return await self.store.listing(space, limit=limit, before=before, open_only=open_only)

    async def _space_of(self, caller: Caller, correction_id: PublicId) -> str:
        kept = await self.store.find(caller.tenant_id, correction_id)
        if kept is None or not caller.may_touch(kept.space):
            raise NotFoundError(f"no question {correction_id}")
        return kept.space

    async def _correct(self, unit: CorrectionUnit, wanted: Wanted) -> Correction:
        reading = _read(wanted)
        return await self.do(unit, wanted, reading, decide(wanted, reading, await known_of(unit, wanted, reading)))

    async def do(self, unit: CorrectionUnit, wanted: Wanted, reading: Reading, decision: Decision) -> Correction:
        """Do what was decided in a locked space, and keep what came of it."""
        correction = replace(await self._done(unit, wanted, reading, decision), origin=wanted.origin)
        await unit.keep(correction)
        return correction

    async def _done(self, unit: CorrectionUnit, wanted: Wanted, reading: Reading, decision: Decision) -> Correction:
        moment = unit.advance()
        made = Correction(
            id=self.new_id(IdKind.CORRECTION, wanted.space.space_id),
            created_at=moment.now,
            outcome=Outcome.UNRESOLVED,
            told="",
            scope=_told_in(wanted),
        )
        if isinstance(decision, Refuse):
            return replace(made, told=decision.reason)
        if isinstance(decision, Ask):
            return replace(
                made,
                outcome=Outcome.NEEDS_CLARIFICATION,
                told=asked(decision.question, decision.options, reading.language),
                options=decision.options,
                asked=wanted_json(wanted),
            )
        if isinstance(decision, Erase):
            receipt_id = self.new_id(IdKind.RECEIPT, wanted.space.space_id)
            receipt, _ = await erase_named(unit, decision.entries, "wish", receipt_id)
            told = say(reading.language, "forgotten", count=str(receipt.body["entries"]))
            return replace(made, outcome=Outcome.APPLIED, told=told, receipt=receipt.id)
        new, targets = self._new_version(wanted, decision, moment)
        contents = [new.content] if new.version == 1 else []
        indexes = await index_contents(self.embedders, unit.model_id, contents)
        claimants = await unit.claimants(claim_keys([new.content, *(t.content for t in targets)]))
        before = {entry.id: entry for entry in (*claimants, *targets)}
        settled = _with_targets(settle(new, claimants, moment, heard=wanted.origin is not None), targets, moment)
        standing = {e.id: e for e in (*claimants, settled.entry, *settled.rivals)}
        await unit.write(
            [
                *map(VersionWrite, settled.rivals),
                VersionWrite(settled.entry, indexes[0] if indexes else None),
                *map(VersionWrite, relieved(standing.values(), unit.advance())),
            ]
        )
        await _bury(unit, settled, before, wanted.origin)
        await _rest_on(unit, settled.entry, wanted.origin)
        gone = tuple(before[rival.id] for rival in settled.rivals if rival.status is Status.SUPERSEDED)
        return _told(made, wanted, reading, decision, (settled, gone, before))

    def _new_version(
        self, wanted: Wanted, decision: Write | Move | Confirm, moment: Moment
    ) -> tuple[Entry, tuple[Entry, ...]]:
        space, said_at = wanted.space, wanted.origin.said_at if wanted.origin else moment.now
        match decision:
            case Write(content, targets):
                new = first_version(self.new_id(IdKind.MEMORY, space.space_id), space.name, content, moment)
            case Move(entry, scope):
                content, targets = replace(entry.content, scope=scope), ()
                new = next_version(entry, moment, reason=REASON, content=content)
            case Confirm(entry, targets):
                new = next_version(entry, moment, reason=REASON)
        return replace(new, corrected=True, reason=REASON, last_confirmed_at=said_at), targets


def _may_erase(wanted: Wanted) -> bool:
    return wanted.whole or wanted.erase is not None or _read(wanted).forget is not None


def _read(wanted: Wanted) -> Reading:
    if wanted.said is not None:
        return read(wanted.said)
    known = wanted.text or wanted.wrong or (wanted.claim.value if wanted.claim else "")
    return Reading(language=language_of(known))


def _told_in(wanted: Wanted) -> str:
    """Where the next prompt must be to tell of it: where it was said."""
    return max(wanted.scopes, key=scope_strength, default=wanted.scope or "")


async def known_of(unit: CorrectionUnit, wanted: Wanted, reading: Reading) -> Known:
    """What of a locked space a correction or wish can be about."""
    if wanted.whole:
        return Known(await unit.selected(Selector(since=_EVER)))
    if wanted.erase is not None:
        return Known(await unit.currents(wanted.erase))
    found: list[Entry] = []
    if reading.forget is Extent.FACT:  # in every tier, and what holds no more
        text = normalise_text(reading.about)
        same = await unit.selected(Selector(content=reading.about))
        found += [entry for entry in same if normalise_text(entry.content.text) == text]
    if wanted.entry_id is not None:
        named = await unit.current(wanted.entry_id)
        found += [named] if named is not None and named.is_live and named.tier is Tier.MEMORIES else []
    for text in searched(wanted, reading):
        found += await unit.saying(text)
    claims = [wanted.claim, *(derive_claim(t) for t in (reading.statement, wanted.text, reading.about) if t)]
    contents = [Content(text="-", claim=claim) for claim in claims if claim is not None]
    found += await unit.claimants(claim_keys(contents))
    last = await unit.last_applied(visible_scopes(wanted.scopes)) if reading.moves else None
    entries = {entry.id: entry for entry in found}
    return Known(tuple(sorted(entries.values(), key=lambda entry: entry.sequence)), last)


def _with_targets(settled: Settled, targets: Iterable[Entry], moment: Moment) -> Settled:
    """What was named as wrong gives way too, whatever it claims."""
    if not settled.entry.is_live:
        return settled
    decided = {rival.id for rival in settled.rivals}
    others = [supersede(t, settled.entry, moment) for t in targets if t.id not in decided and t.is_live]
    return replace(settled, rivals=(*settled.rivals, *others))


async def _rest_on(unit: CorrectionUnit, entry: Entry, origin: Origin | None) -> None:
    """Note that what was saved rests on what was said: it goes when that is taken back."""
    if origin is None:
        return
    if entry.version == 1:
        await unit.mark_derived(entry.id)
    said = KeptEvidence(
        turn=origin.turn.uuid,
        of=origin.message,
        key=origin.key,
        entry=entry.id,
        said_at=origin.said_at,
        content=entry.content,
        corrects=True,
    )
    await unit.keep_evidence([said])


async def _bury(unit: CorrectionUnit, settled: Settled, before: dict[PublicId, Entry], origin: Origin | None) -> None:
    """What gave way must not come back; what is right may."""
    if not settled.entry.is_live:
        return
    marks: dict[Mark, PublicId | None] = {
        mark: settled.entry.id
        for rival in settled.rivals
        if rival.status is Status.SUPERSEDED
        for mark in value_marks(before[rival.id].content)
    }
    right = value_marks(settled.entry.content)
    since = origin.said_at if origin else None
    await unit.bury({mark: entry for mark, entry in marks.items() if mark not in right}, since)
    await unit.exhume(right)


def _told(
    made: Correction,
    wanted: Wanted,
    reading: Reading,
    decision: Write | Move | Confirm,
    done: tuple[Settled, Sequence[Entry], dict[PublicId, Entry]],
) -> Correction:
    """The correction with what is said of it."""
    settled, gone, before = done
    entry, language = settled.entry, reading.language
    text, place = entry.content.text, where(entry.content.scope, language, wanted.scopes)
    if entry.status is Status.SUPERSEDED:
        winner = before.get(entry.superseded_by) if entry.superseded_by else None
        told = say(language, "older", text=winner.content.text if winner else "")
        return replace(made, told=told, after=(entry,))
    if entry.unresolved:
        others = [rival for rival in settled.rivals if rival.status is Status.ACTIVE]
        other = before[others[0].id] if others else next(e for e in before.values() if e.unresolved)
        told = say(language, "undecided", text=text, where=place, old=other.content.text)
        return replace(made, told=told, after=(entry, *others), before=tuple(gone))
    match decision:
        case Write():
            told = saved(language, text, place, (old.content.text for old in gone))
        case Move():
            told = say(language, "moved", text=text, where=place)
        case Confirm():
            told = say(language, "repeated", text=text, where=place)
    if not isinstance(decision, Write) and gone:
        told = " ".join([told, *(say(language, "replaces", text=old.content.text) for old in gone)])
    moved = (decision.entry,) if isinstance(decision, Move) else ()
    return replace(made, outcome=Outcome.APPLIED, told=told, before=(*moved, *gone), after=(entry,))


def _option(question: Correction, key: str) -> Option:
    for option in question.options:
        if option.key == key:
            return option
    offered = ", ".join(option.key for option in question.options)
    raise InvalidInputError(FieldProblem("choice", f"must be one of {offered}"))
