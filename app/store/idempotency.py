"""What was written under the caller's idempotency keys, for a day."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import orjson
from psycopg import AsyncConnection
from psycopg.rows import TupleRow

from app.domain.errors import IdempotencyConflictError
from app.domain.idempotency import IdempotencyKey
from app.store.queries import load

_SQL = load("idempotency")

_IN_USE = "this Idempotency-Key was used for another request; choose a new one"

Outcome = Sequence[Mapping[str, Any]]
"""What a write did, as JSON: ids and versions, never texts."""


async def find_outcome(connection: AsyncConnection[TupleRow], tenant_id: UUID, key: IdempotencyKey) -> Outcome | None:
    """What the same request did before; None if it was not seen.

    Raises:
        IdempotencyConflictError: If the key was used for another request.
    """
    cursor = await connection.execute(_SQL["find"], {"tenant_id": tenant_id, "key": key.key})
    row = await cursor.fetchone()
    if row is None:
        return None
    fingerprint, outcome = row
    if bytes(fingerprint) != key.fingerprint:
        raise IdempotencyConflictError(_IN_USE)
    found: Outcome = outcome
    return found


async def keep_outcome(
    connection: AsyncConnection[TupleRow], tenant_id: UUID, key: IdempotencyKey, outcome: Outcome
) -> None:
    """Keep what a request did under its key.

    Raises:
        IdempotencyConflictError: If a request to another space has used it in the meantime.
    """
    parameters = {"key": key.key, "fingerprint": key.fingerprint, "outcome": orjson.dumps(outcome).decode()}
    kept = await connection.execute(_SQL["keep"], {"tenant_id": tenant_id, **parameters})
    if not kept.rowcount:
        raise IdempotencyConflictError(_IN_USE)
