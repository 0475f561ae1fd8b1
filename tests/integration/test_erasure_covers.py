"""Every table that can hold a space's words is erased with it, and looked through when one entry is forgotten."""

from uuid import uuid4

import psycopg
import pytest

from app.store.migrate import migrate

OF_ENTRIES = {
    "entry_versions": "its versions",
    "claims": "its claim",
    "entry_uses": "its uses; the session's label",
    "corrections": "deleted with any entry that they concern, or whose text they quote",
    "assemblies": "requests that quote it are deleted; outcomes have ids alone",
    "memory_evidence": "what messages say for an entry: its words go with it",
    "supersession_proposals": "deleted with either side; `why` is one of some words",
}
OF_NO_ENTRY = {
    "soul_blocks": "written by editors, erased by themselves and with the space",
    "messages": "what was said: deleted by DELETE /messages, which reaches what was made of it, and with the space",
    "turns": "as its messages",
    "sessions": "as its messages",
    "conversations": "their summaries follow the messages",
    "record_versions": "changed by explicit calls alone, deleted by DELETE /records and with the space",
    "barriers": "ids, and which viewers stay out",
    "jobs": "ids, and the reasons of failures",
    "archives": "names of files",
}
KEPT = {
    "tombstones": "keyed hashes, and why",
    "receipts": "counts and ids",
    "archive_cuts": "what is left of messages in files that are still to be rewritten; gone with that",
}
WORDS = ("text", "text[]", "jsonb", "json", "character varying", "bytea")


@pytest.fixture
async def holding(store):
    """Every table with tenant and space, to its columns that can hold words."""
    rows = await store.sql(
        """SELECT c.relname AS name, array_agg(format_type(a.atttypid, NULL)) AS types,
                  array_agg(a.attname::text) AS names
             FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
            WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
              AND a.attnum > 0 AND NOT a.attisdropped
            GROUP BY c.relname"""
    )
    return {r["name"]: set(r["types"]) for r in rows if {"tenant_id", "space_id"} <= set(r["names"])}


async def test_a_table_that_can_hold_words_is_known_to_forgetting(holding):
    """A new one needs a line above, and a statement in `PostgresUnit.erase` if it can quote an entry."""
    wordy = {name for name, types in holding.items() if not types.isdisjoint(WORDS)} - {"entry_vectors"}
    assert wordy == OF_ENTRIES.keys() | OF_NO_ENTRY.keys() | KEPT.keys()


async def test_every_table_of_a_space_is_erased_with_it_but_for_the_traces_of_forgetting(store, holding):
    erased = {row["space_tables"] for row in await store.sql("SELECT space_tables()")}
    assert erased == holding.keys() - KEPT.keys()


async def test_a_table_that_is_added_later_is_erased_too(new_database):
    url = new_database()
    migrate(url)
    tenant, space, other = uuid4(), uuid4(), uuid4()
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE later (tenant_id uuid, space_id uuid, words text)")
        for owner in (space, other):
            connection.execute("INSERT INTO later VALUES (%s, %s, 'x')", (tenant, owner))
        (removed,) = connection.execute("SELECT erase_space(%s, %s)", (tenant, space)).fetchone()
        left = connection.execute("SELECT space_id FROM later").fetchall()
    assert removed["later"] == 1
    assert left == [(other,)]
