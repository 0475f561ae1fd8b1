"""The shell of forgetting: finds what is named, erases it with its traces, and keeps a receipt."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from app.domain.callers import Caller, Role
from app.domain.entries import Entry
from app.domain.errors import NotFoundError
from app.domain.ids import IdKind, PublicId
from app.domain.presence import require_presence
from app.domain.spaces import SpaceKey
from app.entries.ports import NewId
from app.forgetting.erasing import erase_named
from app.forgetting.ports import ForgettingStore, SessionMemory
from app.forgetting.records import Forgotten, Receipt, Selector, Verified
from app.text.normalise import normalise_text


@dataclass(frozen=True, slots=True)
class ForgettingService:
    """Forgets entries, and whole spaces."""

    store: ForgettingStore
    working: SessionMemory
    new_id: NewId

    async def forget(self, caller: Caller, space_name: str, selector: Selector, *, dry_run: bool = False) -> Forgotten:
        """Erase the entries that a selector names, and what was derived from them alone.

        If several entries have the exact text, none is erased and all are listed. A dry run erases nothing.

        Raises:
            ForbiddenError: If the key may not write there; or, unless it is an administrator's, the actor is not the
                person concerned, or not present.
            NotFoundError: If the selector names nothing, or one of its ids is unknown: nothing is erased.
        """
        space = caller.writable_space(space_name)
        if caller.role < Role.ADMINISTRATOR:
            require_presence(space.name, selector.actor, selector.batch)
        if not await self.store.exists(space):
            raise NotFoundError(f"nothing is remembered in {space.name}")
        async with self.store.unit(space, keep=not dry_run) as unit:
            named = _named(await unit.selected(selector), selector)
            if selector.content is not None and len(named) > 1:
                return Forgotten(None, matches=named)
            receipt_id = self.new_id(IdKind.RECEIPT, space.space_id)
            receipt, texts = await erase_named(unit, named, selector.by, receipt_id, selector)
            removed = receipt.body["removed"]
            if not named and not removed["messages"] + removed["archived_messages"]:
                raise NotFoundError("nothing is remembered that is named so exactly; nothing was forgotten")
            return Forgotten(receipt, mentioned_in=await unit.mentioning(texts))

    async def forget_space(self, caller: Caller, space_name: str, *, dry_run: bool = False) -> Receipt:
        """Erase everything that a space holds, and the space.

        Raises:
            ForbiddenError: If the key is no administrator's, or does not reach the space.
            NotFoundError: If nothing was written to it.
        """
        caller.require(Role.ADMINISTRATOR)
        space = caller.space(space_name)
        if not await self.store.exists(space):
            raise NotFoundError(f"no space {space.name}")
        async with self.store.unit(space, keep=not dry_run) as unit:
            receipt_id = self.new_id(IdKind.RECEIPT, space.space_id)
            cut = await unit.cut_own(receipt_id)
            sessions = await unit.sessions()
            removed = await unit.erase_space()
            body: dict[str, Any] = {
                "kind": "space",
                "by": "space",
                "entries": None,
                "ids": [],
                "removed": {**removed, **cut.counts, "messages": removed["messages"] + cut.messages},
                "turns": [str(turn) for turn in cut.turns],
                "jobs": cut.jobs,
            }
            receipt = await unit.seal(receipt_id, body)
        if not dry_run:
            for session in sessions:
                await self.working.forget(space.tenant_id, session, None)
        return receipt

    async def receipt(self, caller: Caller, receipt_id: PublicId) -> Receipt:
        """A receipt.

        Raises:
            NotFoundError: If there is none within the key's reach.
        """
        found = await self.store.receipt(caller.tenant_id, receipt_id)
        if found is None or not _reaches(caller, receipt_id):
            raise NotFoundError(f"no receipt {receipt_id}")
        return found

    async def verify(self, caller: Caller, receipt_id: PublicId) -> Verified:
        """Whether a receipt is genuine, and what it says is gone is still gone.

        Raises:
            NotFoundError: If there is none within the key's reach.
        """
        return await self.store.verify(caller.tenant_id, await self.receipt(caller, receipt_id))


def _named(found: Sequence[Entry], selector: Selector) -> tuple[Entry, ...]:
    """The entries that the selector names exactly."""
    if selector.content is not None:
        text = normalise_text(selector.content)
        found = [entry for entry in found if normalise_text(entry.content.text) == text]
    missing = set(selector.ids) - {entry.id for entry in found}
    if missing:
        raise NotFoundError(f"no entry {min(missing)} in this space; nothing was forgotten")
    return tuple(found)


def _reaches(caller: Caller, receipt_id: PublicId) -> bool:
    """Whether a key reaches the space of a receipt, which may be gone, and whose name is not kept."""
    if caller.spaces is None:
        return True
    return receipt_id.space_id in {SpaceKey(caller.tenant_id, name).space_id for name in caller.spaces}
