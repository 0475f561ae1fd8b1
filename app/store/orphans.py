"""Episodes that cannot be made anew, because their turns have run out: what is forgotten is cut out of them."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from psycopg import AsyncConnection
from psycopg.rows import TupleRow, dict_row

from app.domain.entries import Author, Entry, Status
from app.domain.ids import IdKind, PublicId, find_id
from app.domain.spaces import SpaceKey
from app.entries.decide import first_version
from app.entries.ports import Embedders, VersionWrite
from app.entries.service import index_contents
from app.forgetting.cutting import sentences_of, shortened
from app.store.entries import PostgresUnit
from app.store.queries import load
from app.store.rows import entry_from
from app.store.spaces import lock_space
from app.turns.documents import PERSONAL_TAG
from app.turns.records import session_uuid

_SQL = load("orphans")
_FORGETTING = load("forgetting")
_SHORTENED = frozenset((Status.ACTIVE, Status.ARCHIVED))
"""What may be served, now or once it is restored; anything else is erased."""


@dataclass(slots=True)
class _Told:
    """What of a person's words may stand in another space: in which sessions, and by what name which texts."""

    sessions: set[str] = field(default_factory=set)
    texts: defaultdict[str, dict[str, None]] = field(default_factory=lambda: defaultdict(dict))


@dataclass(frozen=True, slots=True)
class Orphans:
    """The orphaned episodes of a locked space, and those of the streams in which its person spoke.

    Attributes:
        revised: The turns that are made anew, with whatever is derived from them.
        answered: The turns on which erased entries rest; `echoes` are the words of their answers that go too.
    """

    connection: AsyncConnection[TupleRow]
    space: SpaceKey
    unit: PostgresUnit
    embedders: Embedders
    revised: Sequence[PublicId]
    answered: frozenset[UUID] = frozenset()
    echoes: tuple[str, ...] = ()

    async def quoting(self, texts: Sequence[str]) -> tuple[Entry, ...]:
        """Those of the space that hold one of some texts, in any version."""
        return await self._quoting(self.space.space_id, texts, None) if texts else ()

    async def of_person(self) -> tuple[Entry, ...]:
        """What the person said in streams, turn by turn, whether it can be made anew or not."""
        found = await self._entries("personal", {"space_id": self.space.space_id, "tag": PERSONAL_TAG})
        return tuple(entry for entry in found if _elsewhere(entry) is not None)

    async def shorten(self, entries: Sequence[Entry], texts: Sequence[str]) -> int:
        """Cut texts out of episodes of the space, and echoes out of those of the turns that were answered."""
        return await self._shorten(self.unit, entries, texts)

    async def shorten_elsewhere(
        self, personal: Iterable[Entry], texts: Sequence[str] | None = None
    ) -> Mapping[SpaceKey, int]:
        """Cut texts out of what streams tell of the turns of some personal documents; how many episodes, by space.

        Args:
            texts: None: all that the documents hold.
        """
        told: defaultdict[UUID, _Told] = defaultdict(_Told)
        for entry in personal:
            place = _elsewhere(entry)
            if place is not None:
                one = told[place.space_id]
                one.sessions.add(entry.content.session or "")
                one.texts[_speaker(entry)] |= dict.fromkeys(
                    sentences_of(entry.content.text) if texts is None else texts
                )
        done: dict[SpaceKey, int] = {}
        for space in await self._spaces(sorted(told)):
            one = told[space.space_id]
            address = {"tenant_id": space.tenant_id, "space_id": space.space_id}
            unit = PostgresUnit(self.connection, address, await lock_space(self.connection, space))
            for speaker, said in one.texts.items():
                entries = await self._quoting(space.space_id, tuple(said), _labels(space, one.sessions))
                done[space] = done.get(space, 0) + await self._shorten(unit, entries, tuple(said), speaker)
            await unit.finish()
        return done

    async def _spaces(self, space_ids: Sequence[UUID]) -> tuple[SpaceKey, ...]:
        of = {"tenant_id": self.space.tenant_id, "space_ids": list(space_ids)}
        rows = await (await self.connection.execute(_SQL["spaces"], of)).fetchall()
        return tuple(SpaceKey(self.space.tenant_id, name) for (name,) in rows)

    async def _shorten(
        self, unit: PostgresUnit, entries: Sequence[Entry], texts: Sequence[str], speaker: str | None = None
    ) -> int:
        done = 0
        for entry in entries:
            repeated = self.echoes if entry.id.uuid in self.answered else ()
            content = shortened(entry.content, texts, repeated, speaker) if entry.status in _SHORTENED else None
            if content == entry.content and entry.version == 1:  # others say the same
                continue
            done += 1
            of = {"tenant_id": self.space.tenant_id, "space_id": entry.id.space_id, "ids": [entry.id.uuid]}
            await self.connection.execute(_FORGETTING["forget_summaries"], of)
            await unit.erase(entry)
            if content is not None:
                made = first_version(entry.id, entry.space, content, unit.advance())
                kept = replace(
                    made,
                    status=entry.status,
                    recorded_at=entry.recorded_at,
                    first_recorded_at=entry.first_recorded_at,
                    last_confirmed_at=entry.last_confirmed_at,
                )
                indexes = await index_contents(self.embedders, unit.model_id, [content])
                await unit.write([VersionWrite(kept, indexes[0])])
        return done

    async def _quoting(self, space_id: UUID, texts: Sequence[str], sessions: Sequence[str] | None) -> tuple[Entry, ...]:
        wanted = {
            "space_id": space_id,
            "texts": [" ".join(text.lower().split()) for text in texts],
            "sessions": None if sessions is None else list(sessions),
            "revised": [turn.uuid for turn in self.revised],
        }
        return await self._entries("quoting", wanted)

    async def _entries(self, name: str, parameters: Mapping[str, Any]) -> tuple[Entry, ...]:
        async with self.connection.cursor(row_factory=dict_row) as cursor:
            await cursor.execute(_SQL[name], {"tenant_id": self.space.tenant_id, **parameters})
            return tuple(map(entry_from, await cursor.fetchall()))


def _elsewhere(entry: Entry) -> PublicId | None:
    """The turn in another space of which a personal document is made."""
    turn = find_id(entry.content.source or "", IdKind.TURN)
    return None if turn is None or turn.space_id == entry.id.space_id else turn


def _labels(space: SpaceKey, sessions: Iterable[str]) -> list[str]:
    """How the episodes of a space name sessions: of turns by the platform's name, of conversations by our id."""
    ids = {str(PublicId(session_uuid(space, label), space.space_id, IdKind.SESSION)) for label in sessions}
    return sorted(ids.union(sessions))


def _speaker(entry: Entry) -> str:
    """How transcripts name the author of a personal document."""
    author = entry.content.author or Author()
    return author.name or author.id or ""
