"""Working memory: the latest messages of each session, for a while. In Postgres, or in Redis."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

import orjson
import structlog
from redis.asyncio import Redis
from redis.exceptions import RedisError

from app.domain.entries import Author
from app.domain.errors import UnavailableError
from app.domain.ids import IdKind, PublicId, parse_id
from app.store.turns import PostgresTurns
from app.turns.records import Message, Speaker

WORKING_MESSAGES: Final = 200
"""As many as an assembly takes as history."""

_ANSWER_SECONDS: Final = 0.5
_IDS = ("id", "turn", "session")
_TIMES = ("said_at", "recorded_at", "edited_at", "deleted_at")
_log: structlog.typing.FilteringBoundLogger = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class PostgresWorkingMemory:
    """The stored messages themselves: nothing to keep up to date.

    Attributes:
        ttl_s: How long a message is remembered.
    """

    turns: PostgresTurns
    ttl_s: float

    async def recent(self, tenant_id: UUID, session: PublicId) -> tuple[Message, ...]:
        """Oldest first; without those that ran out or were deleted."""
        return await self.turns.recent(tenant_id, session, WORKING_MESSAGES, self.ttl_s)

    async def add(self, tenant_id: UUID, messages: Sequence[Message]) -> None:
        """They are stored."""

    async def forget(self, tenant_id: UUID, session: PublicId, messages: Sequence[PublicId] | None) -> None:
        """They are gone."""

    async def refresh(self, tenant_id: UUID, session: PublicId) -> None:
        """It is what is stored."""


@dataclass(frozen=True, slots=True)
class RedisWorkingMemory:
    """A copy of the stored messages in Redis: a hash for each session, by message, that expires as a whole.

    Messages are only added, replaced and removed one by one: nothing that comes meanwhile is lost. What a write cannot
    note, because Redis does not answer, the history task brings along as soon as it does.
    """

    redis: Redis
    turns: PostgresTurns
    ttl_s: float
    now: Callable[[], datetime]

    async def recent(self, tenant_id: UUID, session: PublicId) -> tuple[Message, ...]:
        """Oldest first; without those that ran out or were deleted."""
        with _answering():
            found = await self.redis.hvals(_key(tenant_id, session))
        oldest = self.now() - timedelta(seconds=self.ttl_s)
        messages = [message for value in found if (message := _message(value)).recorded_at > oldest]
        messages.sort(key=lambda message: (message.said_at, message.id.uuid))
        return tuple(messages[-WORKING_MESSAGES:])

    async def add(self, tenant_id: UUID, messages: Sequence[Message]) -> None:
        """Note messages that are stored."""
        try:
            await self._put(tenant_id, messages)
        except UnavailableError as error:
            _log.warning("working memory was not told", reason=str(error))

    async def forget(self, tenant_id: UUID, session: PublicId, messages: Sequence[PublicId] | None) -> None:
        """Drop messages of a session, or all."""
        key = _key(tenant_id, session)
        try:
            with _answering():
                if messages is None:
                    await self.redis.delete(key)
                elif messages:
                    await self.redis.hdel(key, *(str(m) for m in messages))
        except UnavailableError as error:
            _log.warning("working memory was not told", reason=str(error))

    async def refresh(self, tenant_id: UUID, session: PublicId) -> None:
        """Bring it up to what is stored, and drop what is older than the messages that count."""
        latest = await self.turns.recent(tenant_id, session, WORKING_MESSAGES, self.ttl_s)
        await self._put(tenant_id, latest)
        gone = [
            PublicId(uuid, session.space_id, IdKind.MESSAGE)
            for uuid in await self.turns.gone(tenant_id, session, self.ttl_s)
        ]
        key = _key(tenant_id, session)
        with _answering():
            if len(latest) == WORKING_MESSAGES:
                oldest = min(message.id for message in latest)
                known = [_message_id(name) for name in await self.redis.hkeys(key)]
                gone += [message_id for message_id in known if message_id < oldest]
            if gone:
                await self.redis.hdel(key, *map(str, gone))

    async def _put(self, tenant_id: UUID, messages: Sequence[Message]) -> None:
        if not messages:
            return
        key = _key(tenant_id, messages[0].session)
        with _answering():
            async with self.redis.pipeline(transaction=True) as pipeline:
                pipeline.hset(key, mapping={str(m.id): _json(m) for m in messages})
                pipeline.expire(key, int(self.ttl_s) + 1)
                await pipeline.execute()


def connect_redis(url: str) -> Redis:
    """A client; it connects when it is used."""
    return Redis.from_url(url, socket_timeout=_ANSWER_SECONDS, socket_connect_timeout=_ANSWER_SECONDS)


async def ping_redis(redis: Redis) -> None:
    """Ask Redis for a sign of life.

    Raises:
        UnavailableError: If it does not answer.
    """
    with _answering():
        await redis.get("ricordo:ping")


@contextmanager
def _answering() -> Iterator[None]:
    try:
        yield
    except (RedisError, OSError) as error:
        raise UnavailableError("the working memory does not answer") from error


def _message_id(name: bytes | str) -> PublicId:
    return parse_id(name.decode() if isinstance(name, bytes) else name)


def _key(tenant_id: UUID, session: PublicId) -> str:
    return f"ricordo:working:{tenant_id}:{session}"


def _json(message: Message) -> bytes:
    stored = {field.name: getattr(message, field.name) for field in fields(message)}
    stored |= {name: str(stored[name]) for name in _IDS}
    return orjson.dumps(stored)


def _message(value: Any) -> Message:
    stored = orjson.loads(value)
    stored |= {name: parse_id(stored[name]) for name in _IDS}
    stored |= {name: datetime.fromisoformat(stored[name]) for name in _TIMES if stored[name] is not None}
    stored |= {"mentions": tuple(stored["mentions"]), "media": tuple(stored["media"])}
    return Message(**{**stored, "role": Speaker(stored["role"]), "author": Author(**stored["author"])})
