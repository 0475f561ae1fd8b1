"""The spaces that are kept in memory: those that were asked for lately, within a bound."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any
from uuid import UUID

import structlog

from app.assembly.records import Candidate
from app.domain.errors import UnavailableError
from app.domain.ids import IdKind
from app.domain.spaces import SpaceKey
from app.store.candidates import Template, template
from app.store.entries import Pool
from app.store.resident.index import Hits, SpaceIndex, State
from app.store.resident.loading import follow, load_index, load_rows
from app.store.rows import Stored

_log = structlog.get_logger(__name__)

IDLE_SECONDS = 600.0
"""A space that nobody asks for is given up after this time."""

ROWS = 5_000
"""Entries that are kept of one space."""

_ROWS_AT_ONCE = 50
"""They take a millisecond or two, in which nobody else is served."""

_ROW_BYTES = 4_000
"""An entry with what was worked out from it."""

_ASKED_BEFORE = 10_000
"""Spaces of which it is remembered that somebody asked for them: the second question loads the index."""

Address = tuple[UUID, UUID]


@dataclass(slots=True, eq=False)
class Resident:
    """A space in memory: its index, and the entries that were served from it, by their place.

    Entries are those of the index's state: what changes is forgotten. There are at most ROWS.
    """

    space: SpaceKey
    index: SpaceIndex
    used_at: float
    rows: dict[int, Template] = field(default_factory=dict)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def size_bytes(self) -> int:
        """About what it takes in memory."""
        return self.index.size_bytes + _ROW_BYTES * len(self.rows)

    def held(self, hits: Hits) -> tuple[dict[int, Template], list[UUID]]:
        """The entries that were found, by place; and the ids of those that are not here."""
        here = {found.place: row for found in hits.found if (row := self.rows.get(found.place)) is not None}
        places = {found.place for found in hits.found} - here.keys()
        return here, [self.index.public_id(place, self.space.space_id).uuid for place in places]

    def keep(self, rows: Iterable[Sequence[Any]]) -> dict[int, Template]:
        """Keep entries, as `rows` in resident.sql brings them, in the place of those that came first; by place."""
        came: dict[int, Template] = {}
        for row in rows:
            stored = Stored._make(row)
            place = self.index.place_of.get(stored.id.bytes)
            if place is not None:
                came[place] = template(stored, self.space.name, self.space.space_id)
        self.rows |= came
        for place in list(islice(self.rows, max(0, len(self.rows) - ROWS))):
            del self.rows[place]
        return came

    def follow(self, changed: frozenset[UUID]) -> None:
        """Forget entries that are not what they were; and those that replaced others, of which some may be erased."""
        self.rows = {
            place: row for place, row in self.rows.items() if row.stored.id not in changed and not row.stored.superseded
        }

    def count_uses(self, entry_id: UUID, uses: int) -> None:
        """Note how often an entry was used."""
        place = self.index.place_of.get(entry_id.bytes)
        if place is not None and place in self.rows:
            self.rows[place].uses = uses

    def candidates(
        self, hits: Hits, held: Mapping[int, Template], outdated: Mapping[tuple[UUID, int], UUID]
    ) -> list[Candidate]:
        """What was found, as candidates; entries that are not held are gone, and left out."""
        candidates: list[Candidate] = []
        vectors = self.index.vectors
        for place, *seen in hits.found:
            row = held.get(place)
            if row is not None:
                vector = vectors[place] if row.kind is IdKind.MEMORY else None
                outdated_by = outdated.get((row.stored.id, row.stored.version)) if outdated else None
                candidates.append(row.candidate(*seen, vector, outdated_by=outdated_by))
        return candidates


class ResidentSpaces:
    """Indexes by space. An index is never trusted: whoever uses one compares its state with the database's."""

    def __init__(self, pool: Pool, limit_bytes: int, monotonic: Callable[[], float]) -> None:
        """Nothing is loaded yet.

        Args:
            limit_bytes: What all indexes together may take; 0 keeps none.
            monotonic: Seconds of a clock that never goes back.
        """
        self._pool = pool
        self._limit_bytes = limit_bytes
        self._monotonic = monotonic
        self._spaces: OrderedDict[Address, Resident] = OrderedDict()
        self._asked: OrderedDict[Address, None] = OrderedDict()
        self._loading: dict[Address, asyncio.Task[None]] = {}
        self.hits = self.misses = 0
        """How often a space that was asked for was in memory, and how often not."""

    def find(self, space: SpaceKey) -> Resident | None:
        """The space, if it is in memory. If it was asked for before, it will be soon."""
        address = _address(space)
        now = self._monotonic()
        self._give_up_idle(now)
        resident = self._spaces.get(address)
        if resident is None:
            self.misses += 1
        else:
            self.hits += 1
            resident.used_at = now
            self._spaces.move_to_end(address)
        if resident is None and self._limit_bytes and self._was_asked(address):
            self.prepare(space)
        return resident

    @property
    def sizes(self) -> tuple[int, int]:
        """How many spaces are in memory, and how many bytes they take."""
        return len(self._spaces), sum(resident.size_bytes for resident in self._spaces.values())

    def prepare(self, space: SpaceKey) -> None:
        """Load a space in the background, once at a time."""
        address = _address(space)
        if address not in self._loading:
            task = asyncio.create_task(self._load(space))
            self._loading[address] = task
            task.add_done_callback(lambda _: self._loading.pop(address, None))

    async def loaded(self) -> None:
        """Wait until nothing is being loaded."""
        while self._loading:
            await asyncio.gather(*self._loading.values())

    async def renew(self, resident: Resident, state: State | None) -> bool:
        """Bring a space up to the state that the database showed. If that does not do, it is loaded anew, later.

        Raises:
            UnavailableError: If the database does not answer.
        """
        async with resident.lock:
            if resident.index.state == state:
                return True
            changed = await follow(self._pool, resident.space, resident.index)
        if changed is None:
            self.drop(resident.space)
            self.prepare(resident.space)
            return False
        resident.follow(changed)
        return True

    def count_uses(self, tenant_id: UUID, counted: Iterable[tuple[UUID, UUID, int]]) -> None:
        """Note new use counts: of which space, of which entry, how many.

        Those that other processes count come with the next change of the entry.
        """
        for space_id, entry_id, uses in counted:
            resident = self._spaces.get((tenant_id, space_id))
            if resident is not None:
                resident.count_uses(entry_id, uses)

    def drop(self, space: SpaceKey) -> None:
        """Forget a space and every text of it that is in memory."""
        self._spaces.pop(_address(space), None)

    async def close(self) -> None:
        """Stop loading."""
        for task in list(self._loading.values()):
            task.cancel()
        await asyncio.gather(*self._loading.values(), return_exceptions=True)

    async def _load(self, space: SpaceKey) -> None:
        try:
            await self._bring(space)
        except UnavailableError:  # asked for again, it is tried again
            return
        except Exception:  # noqa: BLE001 - without it everything works, only slower
            _log.exception("a space cannot be kept in memory", space_id=str(space.space_id))

    async def _bring(self, space: SpaceKey) -> None:
        index = await load_index(self._pool, space, self._limit_bytes)
        if index is None or index.size_bytes > self._limit_bytes:
            return
        resident = self._spaces[_address(space)] = Resident(space, index, self._monotonic())
        self._make_room()
        await self._fill(resident)

    async def _fill(self, resident: Resident) -> None:
        """Bring the entries of a space that is not too large, before somebody waits for them."""
        index, space = resident.index, resident.space
        if index.live_count > ROWS:
            return
        ids = [index.public_id(place, space.space_id).uuid for place in range(index.count)]
        for start in range(0, len(ids), _ROWS_AT_ONCE):
            if self._spaces.get(_address(space)) is not resident:
                return  # there was no room for it
            self.keep(resident, await load_rows(self._pool, space, ids[start : start + _ROWS_AT_ONCE]))
            await asyncio.sleep(0)  # requests go first

    def _give_up_idle(self, now: float) -> None:
        """Drop what was not used for long."""
        while self._spaces:
            address, oldest = next(iter(self._spaces.items()))
            if now - oldest.used_at < IDLE_SECONDS:
                return
            del self._spaces[address]

    def keep(self, resident: Resident, rows: Iterable[Sequence[Any]]) -> dict[int, Template]:
        """Keep entries of a space, within the bound of all spaces; by place."""
        came = resident.keep(rows)
        self._make_room()
        return came

    def _make_room(self) -> None:
        """Drop the least lately used spaces above the bound."""
        total = sum(resident.size_bytes for resident in self._spaces.values())
        while total > self._limit_bytes:
            _, oldest = self._spaces.popitem(last=False)
            total -= oldest.size_bytes

    def _was_asked(self, address: Address) -> bool:
        if address in self._asked:
            return True
        self._asked[address] = None
        if len(self._asked) > _ASKED_BEFORE:
            self._asked.popitem(last=False)
        return False


def _address(space: SpaceKey) -> Address:
    return space.tenant_id, space.space_id
