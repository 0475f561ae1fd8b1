"""What may come in of an exported space: all but what was forgotten, whole or within more."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from app.domain.entries import Entry, Tier
from app.entries.tombstones import Mark, erased_block_mark, erased_record_mark
from app.forgetting.cutting import shortened, statements, without
from app.store.buried import Buried
from app.store.exported import Row, moment_of

_MADE: Final = ("recorded_at", "created_at", "made_at", "raised_at", "said_at", "started_at")
"""Columns that say since when there is a row; the first that a table has counts."""

_OWN_MARK: Final[Mapping[str, Callable[[str], Mark]]] = {
    "soul_blocks": erased_block_mark,
    "record_versions": erased_record_mark,
}

_QUOTING: Final[Mapping[str, str]] = {"memory_evidence": "content", "conversations": "summary"}
"""Columns that may hold what was forgotten within more, and may be empty; by table."""


def left_of_entry(entry: Entry, derived: Collection[str], buried: Buried) -> Entry | None:
    """A version as it may come: whole; without what was forgotten, if it is a derived episode; or not at all.

    Args:
        derived: Ids of entries that were made of what was said.
    """
    content, at = entry.content, entry.first_recorded_at
    if buried.has_text(content.text, at) or buried.has_space(at):
        return None
    if str(entry.id.uuid) not in derived or entry.tier is not Tier.EPISODES:
        return entry
    quoted = buried.quoted("\n".join(filter(None, (content.text, content.context))), at)
    if not quoted:
        return entry
    left = shortened(content, quoted)
    return None if left is None else replace(entry, content=left)


def left_of_row(table: str, row: Row, buried: Buried, exported_at: datetime | None) -> Row | None:
    """A row of another table as it may come: all of it, without what quotes what was forgotten, or not at all.

    Args:
        exported_at: What has no time of its own was there then; None: it is taken to be old.
    """
    at = made_at(row, exported_at)
    quoting = _QUOTING.get(table)
    if _is_gone(table, row, buried, at):
        return None
    if table == "messages" and buried.is_quoted_in(row.get("text"), at):
        left = without(row["text"], statements(buried.quoted(row["text"], at)))
        return {**row, "text": left, "terms": []} if left else None
    if quoting is not None and buried.is_quoted_in(row.get(quoting), at):
        return {**row, quoting: None}
    return row


def _is_gone(table: str, row: Row, buried: Buried, at: datetime) -> bool:
    if not buried.stones:
        return False
    if buried.has_space(at) or (table == "corrections" and buried.is_quoted_in(list(row.values()), at)):
        return True
    mark = _OWN_MARK.get(table)
    texts = [value for name, value in row.items() if isinstance(value, str) and value and name != _QUOTING.get(table)]
    return any(buried.has_text(text, at) or (mark is not None and buried.has(mark(text), at)) for text in texts)


def made_at(row: Row, exported_at: datetime | None) -> datetime:
    """When a row was made, or else exported; what says neither is taken to be old."""
    value = next((row[name] for name in _MADE if row.get(name)), None)
    return moment_of(value) or exported_at or datetime.min.replace(tzinfo=UTC)
