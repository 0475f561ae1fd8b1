"""Spaces with a past: entries that look as if they had been written long ago, and what consolidation owes to each."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from app.contradictions.claims import derive_claim
from app.domain.entries import Author, Category, Content, Entry, Tier
from app.domain.ids import IdKind, PublicId
from app.entries.decide import Moment, first_version
from app.entries.ports import IndexedText, VersionWrite
from app.runtime import new_id
from app.text.terms import document_terms
from tests.integration.stores import Space, day

NOW = day(2025, 6)
"""The moment of consolidation: after everything that is planted, and before any test runs."""

LONG_AGO = NOW - timedelta(days=3_000)
MERGED, SUPERSEDED, ARCHIVED = ("merged",), ("superseded",), ("archived",)

LATELY = NOW - timedelta(days=20)


@dataclass(frozen=True)
class Seed:
    """An entry to plant."""

    text: str
    at: datetime = LATELY
    uses: int = 0
    content: dict = field(default_factory=dict)


@dataclass(frozen=True)
class Case:
    """Entries that belong together, and what is right: how many of them live on, and what becomes of the others."""

    seeds: tuple[Seed, ...]
    live: int
    reasons: tuple[str, ...] = ()
    survivor: int | None = None
    """Which one must be among those that live on."""


def seeds(*texts: str, step: timedelta = timedelta(days=1), at: datetime = LATELY, **content) -> tuple[Seed, ...]:
    return tuple(Seed(text, at + number * step, content=content) for number, text in enumerate(texts))


def _name(number: int) -> str:
    """A name that shares its stem with no other."""
    syllables = ("ba", "ce", "di", "fo", "gu", "la", "me", "ni", "po", "ru", "sa", "te", "vi", "zo")
    parts = []
    for _ in range(4):
        number, digit = divmod(number, len(syllables))
        parts.append(syllables[digit])
    return ("".join(parts) + "x").capitalize()


def _cases_of(n: str) -> tuple[Case, ...]:
    """One case of every kind, about a name of its own."""
    bees = f"I keep bees with {n}."
    mask = f"{n} wears a mask."
    inn = f"{n} runs the inn."
    return (
        Case(seeds(f"{n} grows lemons in a glass house."), 1),
        # what says the same
        Case(
            seeds(f"{n} sings in a choir.", f"  {n.upper()} sings  in a choir!", f"{n} sings in a choir"), 1, MERGED * 2
        ),
        Case(seeds(f"{n} lives in Rome.", f"{n} resides in Rome."), 1, MERGED),
        Case(seeds(f"On Mondays the {n} club meets in town.", f"The {n} club meets in town on Mondays"), 1, MERGED),
        # what cannot both hold
        Case(seeds(f"The {n} office opens at 9:00.", f"The {n} office opens at 10:30."), 1, SUPERSEDED, survivor=1),
        Case(seeds(f"{n} lives in Milan.", f"{n} does not live in Milan."), 1, SUPERSEDED, survivor=1),
        Case(  # the first holds again, so that it is the second alone that gives way
            seeds(f"The {n} gate is open.", f"The {n} gate is closed.", f"The {n} gate is open now."),
            2,
            SUPERSEDED,
            survivor=2,
        ),
        # what has faded, and what is protected
        Case(seeds(f"{n} mentioned a green umbrella.", at=LONG_AGO, importance=0.3), 0, ARCHIVED),
        Case(seeds(f"{n} had a red scarf.", f"{n} had a red scarf", at=LONG_AGO), 0, ARCHIVED + MERGED),
        Case(seeds(f"{n} is allergic to wasps.", at=LONG_AGO, importance=0.9), 1),
        Case(seeds(f"Answer {n} in verse.", at=LONG_AGO, category=Category.OUTPUT_PREFERENCE), 1),
        Case(seeds(f"{n} has the key of the cellar.", at=LONG_AGO, tags=("pinned",)), 1),
        # what only looks alike
        Case((*seeds(bees, author=Author(name="Ana")), *seeds(bees, author=Author(name="Ben"))), 2),
        Case((*seeds(mask), *seeds(mask, scope="story:ball")), 2),
        Case((*seeds(inn, valid_from=day(2019)), *seeds(inn, valid_from=day(2024))), 2),
        Case(seeds(f"The {n} printer has 4 trays.", f"The {n} scanner has 4 trays."), 2),
        Case(seeds(f"{n} might move to Oslo.", f"{n} moves to Oslo.", f"{n} moved to Oslo last year."), 3),
        Case(seeds(f"{n} loves Amir.", f"Amir loves {n}."), 2),
    )


def cases(entries: int) -> list[Case]:
    """So many entries, or some more, in cases of every kind."""
    found: list[Case] = []
    number = 0
    while sum(len(case.seeds) for case in found) < entries:
        kinds = _cases_of("Qqqq")
        found += [_cases_of(_name(number * len(kinds) + kind))[kind] for kind in range(len(kinds))]
        number += 1
    return found


async def plant(space: Space, planted: Sequence[Seed], tier: Tier = Tier.MEMORIES) -> list[Entry]:
    """Write entries beside the service: whatever it makes of repetitions at the write, they are there."""
    store = space.store
    entries: list[Entry] = []
    for start in range(0, len(planted), 500):
        portion = planted[start : start + 500]
        vectors = await store.embedder.embed_documents([seed.text for seed in portion])
        async with store.entries.store.unit(space.key) as unit:
            writes = []
            for seed, vector in zip(portion, vectors, strict=True):
                claim = derive_claim(seed.text)
                content = Content(text=seed.text, claim=claim, claim_derived=claim is not None, **seed.content)
                moment = Moment(seed.at, unit.advance().sequence)
                kind = {Tier.MEMORIES: IdKind.MEMORY, Tier.EPISODES: IdKind.EPISODE, Tier.PROCEDURES: IdKind.PROCEDURE}
                entry = first_version(new_id(kind[tier], space.id), space.name, content, moment)
                writes.append(VersionWrite(entry, IndexedText(document_terms(seed.text), vector, unit.model_id)))
            await unit.write(writes)
        entries += [write.entry for write in writes]
    for seed, entry in zip(planted, entries, strict=True):
        if seed.uses:
            await space.rows(
                "INSERT INTO entry_uses VALUES (%(tenant)s, %(space)s, %(id)s, %(uses)s, 'earlier')",
                id=entry.id.uuid, uses=seed.uses,
            )  # fmt: skip
    return entries


async def states(space: Space) -> dict[PublicId, Entry]:
    """Every entry of the space as it is now."""
    rows = await space.rows(
        """SELECT id, tier::text FROM entry_versions
            WHERE tenant_id = %(tenant)s AND space_id = %(space)s AND closed_at IS NULL"""
    )
    kinds = {"memories": IdKind.MEMORY, "episodes": IdKind.EPISODE, "procedures": IdKind.PROCEDURE}
    ids = [PublicId(row["id"], space.id, kinds[row["tier"]]) for row in rows]
    async with space.store.entries.store.unit(space.key) as unit:
        return {entry.id: entry for entry in await unit.currents(ids)}


def told(entries: dict[PublicId, Entry]) -> list[tuple]:
    """What can be compared between two spaces that were planted alike: no ids, no times of today."""
    texts = {entry_id: (entry.content.text, entry.content.scope) for entry_id, entry in entries.items()}
    return sorted(
        (
            entry.content.text,
            entry.content.scope,
            str(entry.content.author),
            str(entry.content.valid_from),
            entry.status.value,
            entry.reason,
            entry.version,
            texts.get(entry.superseded_by, ("",)),
            sorted(texts[merged] for merged in entry.merged_from),
            str(entry.last_confirmed_at),
        )
        for entry in entries.values()
    )
