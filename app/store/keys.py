"""API keys and short-lived tokens: hashed, found by prefix, cached for a moment."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b, sha256
from hmac import compare_digest
from typing import Any
from uuid import UUID

import psycopg
from psycopg.rows import dict_row

from app.domain.callers import ROLES, Caller, NewKey
from app.domain.errors import UnauthenticatedError
from app.store.entries import Pool
from app.store.pool import tenant_transaction, transaction
from app.store.queries import load

_SQL = load("keys")

PREFIX_CHARS = 12
KEY_CHARS_MIN = 24
CACHE_SECONDS = 5.0
"""A key that was revoked by another process is refused after this time at the latest."""

_CACHE_KEYS = 10_000


def tenant_id_of(name: str) -> UUID:
    """The id of a tenant: derived from its name."""
    return UUID(bytes=blake2b(name.encode(), digest_size=16, person=b"ricordo tenant").digest())


@dataclass(frozen=True, slots=True)
class KeyDescription:
    """A key as it is listed: never the key itself."""

    prefix: str
    name: str
    role: str
    spaces: tuple[str, ...] | None
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None


@dataclass(frozen=True, slots=True)
class IssuedKey:
    """A key that was made just now: shown once."""

    key: str
    expires_at: datetime | None


@dataclass(frozen=True, slots=True)
class PostgresKeys:
    """The keys of one pool.

    Attributes:
        new_secret: Makes a fresh key.
        monotonic: Seconds of a clock that never goes back, for the cache.
        new_uuid: Makes row ids.
    """

    pool: Pool
    new_secret: Callable[[], str]
    new_uuid: Callable[[], UUID]
    monotonic: Callable[[], float]
    _cache: dict[bytes, tuple[float, Caller]] = field(default_factory=dict)

    async def authenticate(self, key: str) -> Caller:
        """The caller that a key stands for.

        Raises:
            UnauthenticatedError: If the key is unknown, revoked or expired.
            UnavailableError: If the database does not answer and the key was not seen a moment ago.
        """
        digest = _digest(key)
        cached = self._cache.get(digest)
        if cached is not None and self.monotonic() < cached[0]:
            return cached[1]
        if len(key) < KEY_CHARS_MIN or not (key.isascii() and key.isprintable()):
            raise UnauthenticatedError("unknown, revoked or expired key")
        caller, valid_s = await self._look_up(key, digest)
        if len(self._cache) >= _CACHE_KEYS:
            self._cache.clear()
        self._cache[digest] = (self.monotonic() + min(CACHE_SECONDS, valid_s), caller)
        return caller

    async def _look_up(self, key: str, digest: bytes) -> tuple[Caller, float]:
        """The caller, and for how many seconds the key is valid."""
        prefix = key[:PREFIX_CHARS]
        async with transaction(self.pool, "app.key_prefix", prefix) as connection:
            cursor = connection.cursor(row_factory=dict_row)
            await cursor.execute(_SQL["find_key"], {"prefix": prefix})
            row = await cursor.fetchone()
        if row is None or not compare_digest(bytes(row["secret_hash"]), digest):
            raise UnauthenticatedError("unknown, revoked or expired key")
        spaces = None if row["spaces"] is None else frozenset(row["spaces"])
        return Caller(row["tenant_id"], ROLES[row["role"]], spaces, row["expires_at"]), row["valid_s"]

    async def issue(self, tenant_id: UUID, wanted: NewKey) -> IssuedKey:
        """Make a key; it is not kept and cannot be shown again."""
        async with tenant_transaction(self.pool, tenant_id) as connection:
            cursor = connection.cursor(row_factory=dict_row)
            while True:  # until the prefix is one that no key has: nearly always at once
                key = self.new_secret()
                await cursor.execute(_SQL["add_key"], key_parameters(tenant_id, self.new_uuid(), key, wanted))
                row = await cursor.fetchone()
                if row is not None:
                    return IssuedKey(key, row["expires_at"])

    async def listing(self, tenant_id: UUID) -> tuple[KeyDescription, ...]:
        """All keys of a tenant, oldest first."""
        async with tenant_transaction(self.pool, tenant_id) as connection:
            cursor = connection.cursor(row_factory=dict_row)
            await cursor.execute(_SQL["list_keys"], {"tenant_id": tenant_id})
            return tuple(_description(row) for row in await cursor.fetchall())

    async def revoke(self, tenant_id: UUID, prefix: str) -> bool:
        """Revoke a key: at once here, within CACHE_SECONDS in other processes. False if there is none."""
        async with tenant_transaction(self.pool, tenant_id) as connection:
            cursor = await connection.execute(
                _SQL["revoke_key"], {"tenant_id": tenant_id, "prefix": prefix[:PREFIX_CHARS]}
            )
        self._cache.clear()
        return cursor.rowcount > 0


def ensure_tenant(database_url: str, tenant: str) -> UUID:
    """Make sure that a tenant exists; its id. Runs as the owner of the schema."""
    tenant_id = tenant_id_of(tenant)
    with psycopg.connect(database_url) as connection:
        connection.execute("SELECT set_config('app.tenant_id', %s, true)", (str(tenant_id),))
        connection.execute(_SQL["add_tenant"], {"id": tenant_id, "name": tenant})
    return tenant_id


def find_tenant(database_url: str, tenant: str) -> UUID | None:
    """The id of a tenant; None if there is none of that name. Runs as the owner of the schema."""
    tenant_id = tenant_id_of(tenant)
    with psycopg.connect(database_url) as connection:
        connection.execute("SELECT set_config('app.tenant_id', %s, true)", (str(tenant_id),))
        found = connection.execute(_SQL["find_tenant"], {"name": tenant}).fetchone()
    return None if found is None else tenant_id


def ensure_key(database_url: str, tenant: str, key: str, row_id: UUID, wanted: NewKey) -> None:
    """Make sure that a tenant exists and that a given key opens it. Runs as the owner of the schema."""
    tenant_id = ensure_tenant(database_url, tenant)
    with psycopg.connect(database_url) as connection:
        connection.execute("SELECT set_config('app.tenant_id', %s, true)", (str(tenant_id),))
        connection.execute(_SQL["add_key"], key_parameters(tenant_id, row_id, key, wanted))


def key_parameters(tenant_id: UUID, row_id: UUID, key: str, wanted: NewKey) -> dict[str, Any]:
    """The columns of a key."""
    return {
        "tenant_id": tenant_id,
        "id": row_id,
        "prefix": key[:PREFIX_CHARS],
        "secret_hash": _digest(key),
        "name": wanted.name,
        "role": wanted.role.label,
        "spaces": None if wanted.spaces is None else list(wanted.spaces),
        "lifetime_s": wanted.lifetime_s,
        "not_after": wanted.not_after,
    }


def _digest(key: str) -> bytes:
    return sha256(key.encode("utf-8", "replace")).digest()


def _description(row: dict[str, Any]) -> KeyDescription:
    spaces = row.pop("spaces")
    return KeyDescription(**row, spaces=None if spaces is None else tuple(spaces))
