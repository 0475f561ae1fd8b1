"""The shell of keeping soul blocks: checks who asks, locks the space, applies the one check, writes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from app.domain.callers import Caller, Role
from app.domain.errors import (
    ConflictError,
    FieldProblem,
    InvalidInputError,
    NotFoundError,
    PreconditionFailedError,
)
from app.domain.idempotency import IdempotencyKey
from app.domain.ids import IdKind, PublicId
from app.domain.soul import SoulBlock
from app.domain.spaces import SpaceKey
from app.soul.ports import NewId, PlacedBlock, SoulMeasure, SoulStore, SoulUnit

SOUL_BLOCKS = 100
"""Blocks of a space, inactive ones included: a list of them is one page."""

Change = Callable[[SoulBlock], SoulBlock]
"""What an edit makes of the present block."""


@dataclass(frozen=True, slots=True)
class BlockDraft:
    """A block to be made. `position` is None for the last place."""

    name: str
    text: str
    position: int | None = None
    active: bool = True


@dataclass(frozen=True, slots=True)
class SoulService:
    """Create, read, edit, order, restore and delete soul blocks.

    Attributes:
        measure: Counts what the active blocks take once rendered.
        limit_tokens: What they may take: the budget of the identity section.
    """

    store: SoulStore
    new_id: NewId
    measure: SoulMeasure
    limit_tokens: int

    async def create(
        self, caller: Caller, space_name: str, draft: BlockDraft, idempotency: IdempotencyKey | None = None
    ) -> SoulBlock:
        """Make a block.

        Raises:
            ForbiddenError: If the key is no editor's, or does not reach the space.
            ConflictError: If the space has a block of that name.
            InvalidInputError: If the active blocks would not fit.
        """
        space = _editable(caller, space_name)
        async with self.store.unit(space) as unit:
            if idempotency and (earlier := await unit.earlier(idempotency)) is not None:
                return _only(earlier)
            before = await unit.blocks()
            last = max((block.position for block in before), default=-1)
            block = SoulBlock(
                id=self.new_id(IdKind.SOUL, space.space_id),
                version=1,
                name=draft.name,
                text=draft.text,
                position=last + 1 if draft.position is None else draft.position,
                active=draft.active,
                recorded_at=unit.now,
            )
            await self._write(unit, before, [block], idempotency)
            return block

    async def get(self, caller: Caller, block_id: PublicId) -> PlacedBlock:
        """The current version.

        Raises:
            NotFoundError: If the caller's tenant has no such block within the key's reach.
        """
        placed = await self.store.current(caller.tenant_id, block_id)
        if placed is None or not caller.may_touch(placed.space):
            raise NotFoundError(f"no entry {block_id}")
        return placed

    async def blocks(self, space: SpaceKey) -> tuple[SoulBlock, ...]:
        """The blocks of a space, in the order in which they are rendered, inactive ones too."""
        return await self.store.blocks(space)

    async def history(
        self, caller: Caller, block_id: PublicId, *, limit: int, before: int | None = None
    ) -> tuple[PlacedBlock, ...]:
        """Versions below `before`, newest first, at most `limit`."""
        placed = await self.get(caller, block_id)
        versions = await self.store.history(caller.tenant_id, block_id, limit=limit, before=before)
        return tuple(PlacedBlock(placed.space, block) for block in versions)

    async def edit(
        self,
        caller: Caller,
        block_id: PublicId,
        change: Change,
        *,
        if_version: int | None = None,
        idempotency: IdempotencyKey | None = None,
    ) -> PlacedBlock:
        """Write a new version with another name, text, position or activation.

        Raises:
            NotFoundError: If there is no such block.
            PreconditionFailedError: If `if_version` is not the current version.
            ConflictError: If the space has another block of that name.
            InvalidInputError: If the active blocks would not fit.
        """
        space = await self._editable_space(caller, block_id)
        async with self.store.unit(space) as unit:
            if idempotency and (earlier := await unit.earlier(idempotency)) is not None:
                return PlacedBlock(space.name, _only(earlier))
            before = await unit.blocks()
            current = _current(before, block_id, if_version)
            block = _next_version(current, change(current), unit, "edited")
            await self._write(unit, before, [block], idempotency)
            return PlacedBlock(space.name, block)

    async def restore(
        self,
        caller: Caller,
        block_id: PublicId,
        version: int,
        *,
        if_version: int | None = None,
        idempotency: IdempotencyKey | None = None,
    ) -> PlacedBlock:
        """Write a new version that equals an earlier one.

        Raises:
            NotFoundError: If there is no such block or no such version.
            PreconditionFailedError: If `if_version` is not the current version.
            ConflictError: If the space has another block of that name by now.
            InvalidInputError: If the active blocks would not fit.
        """
        space = await self._editable_space(caller, block_id)
        async with self.store.unit(space) as unit:
            if idempotency and (earlier := await unit.earlier(idempotency)) is not None:
                return PlacedBlock(space.name, _only(earlier))
            before = await unit.blocks()
            current = _current(before, block_id, if_version)
            wanted = await unit.version(block_id, version)
            if wanted is None:
                raise NotFoundError(f"{block_id} has no version {version}")
            block = _next_version(current, wanted, unit, "restored")
            await self._write(unit, before, [block], idempotency)
            return PlacedBlock(space.name, block)

    async def order(
        self,
        caller: Caller,
        space_name: str,
        ids: Sequence[PublicId],
        idempotency: IdempotencyKey | None = None,
    ) -> tuple[SoulBlock, ...]:
        """Put all blocks of a space in an order; those that move get a new version. Returns all of them.

        Raises:
            InvalidInputError: If `ids` does not name every block of the space once.
        """
        space = _editable(caller, space_name)
        async with self.store.unit(space) as unit:
            before = await unit.blocks()
            if idempotency and await unit.earlier(idempotency) is not None:
                return before
            known = {block.id: block for block in before}
            if len(ids) != len(known) or set(ids) != known.keys():
                raise InvalidInputError(FieldProblem("ids", "must name every block of the space once"))
            moved = [
                _next_version(known[block_id], replace(known[block_id], position=position), unit, "ordered")
                for position, block_id in enumerate(ids)
                if known[block_id].position != position
            ]
            await self._write(unit, before, moved, idempotency)
            return await unit.blocks()

    async def delete(self, caller: Caller, block_id: PublicId, *, if_version: int | None = None) -> int:
        """Erase a block physically; says how many versions there were.

        Raises:
            NotFoundError: If there is no such block.
            PreconditionFailedError: If `if_version` is not the current version.
        """
        space = await self._editable_space(caller, block_id)
        async with self.store.unit(space) as unit:
            _current(await unit.blocks(), block_id, if_version)
            return await unit.erase(block_id)

    async def _editable_space(self, caller: Caller, block_id: PublicId) -> SpaceKey:
        placed = await self.get(caller, block_id)
        return _editable(caller, placed.space)

    async def _write(
        self,
        unit: SoulUnit,
        before: Sequence[SoulBlock],
        changed: Sequence[SoulBlock],
        idempotency: IdempotencyKey | None,
    ) -> None:
        """The only way in: every write must leave a soul that fits."""
        after = {block.id: block for block in (*before, *changed)}
        self._check(before, list(after.values()))
        await unit.write(changed)
        if idempotency:
            await unit.remember(idempotency, changed)

    def _check(self, before: Sequence[SoulBlock], after: Sequence[SoulBlock]) -> None:
        if len(after) > SOUL_BLOCKS:
            raise ConflictError(f"a space has at most {SOUL_BLOCKS} soul blocks; delete one first")
        names = [block.name for block in after]
        for name in names:
            if names.count(name) > 1:
                raise ConflictError(f"the space has another soul block with the name {name}")
        tokens = self._tokens(after)
        if tokens > self.limit_tokens:
            present = self._tokens(before)
            raise InvalidInputError(
                FieldProblem(
                    "text",
                    f"the active soul blocks of the space take {present} tokens now and would take {tokens}; "
                    f"the limit is {self.limit_tokens}",
                )
            )

    def _tokens(self, blocks: Sequence[SoulBlock]) -> int:
        return self.measure([block for block in blocks if block.active])


def _editable(caller: Caller, space_name: str) -> SpaceKey:
    caller.require(Role.EDITOR)
    return caller.space(space_name)


def _current(blocks: Sequence[SoulBlock], block_id: PublicId, if_version: int | None) -> SoulBlock:
    found = next((block for block in blocks if block.id == block_id), None)
    if found is None:
        raise NotFoundError(f"no entry {block_id}")
    if if_version is not None and found.version != if_version:
        raise PreconditionFailedError(f"{block_id} is at version {found.version}, not {if_version}")
    return found


def _next_version(current: SoulBlock, wanted: SoulBlock, unit: SoulUnit, reason: str) -> SoulBlock:
    return replace(wanted, version=current.version + 1, recorded_at=unit.now, reason=reason)


def _only(earlier: Sequence[SoulBlock]) -> SoulBlock:
    if len(earlier) != 1:
        raise ConflictError("what this Idempotency-Key wrote has been erased since")
    return earlier[0]
