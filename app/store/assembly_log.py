"""The assembly log in Postgres: assemblies by id, use counts, proposed supersessions."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import orjson
from psycopg import AsyncConnection, AsyncCursor
from psycopg.rows import TupleRow, dict_row

from app.assembly.log import Logged, LogRow, Parts, outcome_json, proposals
from app.assembly.records import Notice
from app.domain.ids import IdKind, PublicId
from app.domain.spaces import SpaceKey
from app.store.entries import Pool
from app.store.pool import tenant_transaction
from app.store.queries import load
from app.store.records import record_from
from app.store.rows import Row, block_from, entry_from

_SQL = {**load("assemblies"), **{name: load("corrections")[name] for name in ("shown", "told")}}


_COUNTED = 100_000
"""Uses that a process remembers to have counted."""


def _nobody(tenant_id: UUID, uses: Iterable[Any]) -> None:
    """Nobody keeps use counts."""


@dataclass(frozen=True, slots=True)
class PostgresAssemblyLog:
    """The assembly log of one pool.

    Attributes:
        on_counted: Told of a tenant's new use counts: rows of space, entry and uses.
    """

    pool: Pool
    on_counted: Callable[[UUID, Iterable[Any]], None] = _nobody
    _counted: dict[PublicId, str] = field(default_factory=dict)
    """In which session an entry was counted last: one use per session, so that most assemblies count few."""

    async def record(self, batch: Sequence[Logged]) -> None:
        """Keep some assemblies, count their uses, keep what they propose; one transaction per tenant."""
        tenants: dict[UUID, list[Logged]] = {}
        for logged in batch:
            tenants.setdefault(logged.request.space.tenant_id, []).append(logged)
        for tenant_id, members in tenants.items():
            counting: list[tuple[dict[PublicId, str], AsyncCursor[TupleRow]]] = []
            async with tenant_transaction(self.pool, tenant_id) as connection:
                async with connection.pipeline():
                    for logged in members:
                        await _record(connection, logged)
                        if not logged.request.looks_back:
                            counting.append(await self._count_uses(connection, logged))
                        await asyncio.sleep(0)  # requests go first
                uses = [row for _, cursor in counting for row in await cursor.fetchall()]
            for counted, _ in counting:
                self._remember(counted)
            self.on_counted(tenant_id, uses)

    async def _count_uses(
        self, connection: AsyncConnection[TupleRow], logged: Logged
    ) -> tuple[dict[PublicId, str], AsyncCursor[TupleRow]]:
        """Count the entries of a prompt that were not counted in its session; those, and where their counts come."""
        session = str(logged.request.session or f"day:{logged.created_at.date().isoformat()}")
        ids = {e.scored.candidate.id for e in logged.assembled.assembly.selection.entries}
        fresh = sorted(i for i in ids if self._counted.get(i) != session)
        cursor = await connection.execute(
            _SQL["count_uses"],
            {
                "tenant_id": logged.request.space.tenant_id,
                "space_ids": [i.space_id for i in fresh],
                "ids": [i.uuid for i in fresh],
                "session": session,
            },
        )
        return dict.fromkeys(fresh, session), cursor

    def _remember(self, counted: Mapping[PublicId, str]) -> None:
        if len(self._counted) + len(counted) > _COUNTED:
            self._counted.clear()
        self._counted.update(counted)

    async def find(self, tenant_id: UUID, assembly_id: PublicId) -> LogRow | None:
        """One assembly."""
        address = {"tenant_id": tenant_id, "space_id": assembly_id.space_id, "id": assembly_id.uuid}
        rows = await self._fetch(tenant_id, "find_assembly", address)
        return _row(rows[0]) if rows else None

    async def listing(self, space: SpaceKey, limit: int, before: UUID | None) -> tuple[LogRow, ...]:
        """The assemblies of a space, newest first."""
        parameters = {"tenant_id": space.tenant_id, "space_id": space.space_id, "limit": limit, "before": before}
        return tuple(_row(r) for r in await self._fetch(space.tenant_id, "list_assemblies", parameters))

    async def parts(self, tenant_id: UUID, row: LogRow) -> Parts:
        """What still exists of a logged prompt."""
        entries = await self._fetch(tenant_id, "logged_entries", _wanted(tenant_id, row.entry_versions))
        blocks = await self._fetch(tenant_id, "logged_blocks", _wanted(tenant_id, row.soul_versions))
        records = await self._fetch(tenant_id, "logged_records", _wanted(tenant_id, row.record_versions))
        told = row.notice_ids
        wanted = {"tenant_id": tenant_id, "space_ids": [i.space_id for i in told], "ids": [i.uuid for i in told]}
        found = {n["id"]: n["told"] for n in await self._fetch(tenant_id, "told", wanted)} if told else {}
        return Parts(
            tuple(map(entry_from, entries)),
            tuple(block_from(b, b["space_id"]) for b in blocks),
            tuple(Notice(i, found[i.uuid]) for i in told if i.uuid in found),
            tuple(map(record_from, records)),
        )

    async def _fetch(self, tenant_id: UUID, name: str, parameters: dict[str, Any]) -> list[dict[str, Any]]:
        async with tenant_transaction(self.pool, tenant_id) as connection:
            cursor = connection.cursor(row_factory=dict_row)
            await cursor.execute(_SQL[name], parameters)
            return await cursor.fetchall()


def _wanted(tenant_id: UUID, versions: Sequence[tuple[PublicId, int]]) -> dict[str, Any]:
    return {
        "tenant_id": tenant_id,
        "space_ids": [i.space_id for i, _ in versions],
        "ids": [i.uuid for i, _ in versions],
        "versions": [v for _, v in versions],
    }


def _row(row: Row) -> LogRow:
    return LogRow(
        id=PublicId(row["id"], row["space_id"], IdKind.ASSEMBLY),
        space=row["space"] or row["request"].get("space") or row["request"]["stream"],
        created_at=row["created_at"],
        body=row["request"],
        outcome=row["outcome"],
    )


async def _record(connection: AsyncConnection[TupleRow], logged: Logged) -> None:
    address = {"tenant_id": logged.request.space.tenant_id, "space_id": logged.request.space.space_id}
    await connection.execute(
        _SQL["add_assembly"],
        {
            **address,
            "id": logged.id.uuid,
            "created_at": logged.created_at,
            "request": orjson.dumps(logged.body()).decode(),
            "outcome": orjson.dumps(outcome_json(logged.assembled)).decode(),
        },
    )
    if told := logged.assembled.assembly.selection.notices:
        ids = [notice.id for notice in told]
        shown = {"space_ids": [i.space_id for i in ids], "ids": [i.uuid for i in ids], "shown_at": logged.created_at}
        await connection.execute(_SQL["shown"], {"tenant_id": address["tenant_id"], **shown})
    for change, kept_version, superseded_version in proposals(logged):
        await connection.execute(
            _SQL["add_proposal"],
            {
                "tenant_id": logged.request.space.tenant_id,
                "space_id": change.kept.space_id,
                "kept": change.kept.uuid,
                "kept_version": kept_version,
                "superseded": change.superseded.uuid,
                "superseded_version": superseded_version,
                "why": change.why,
                "proposed_at": logged.created_at,
            },
        )
