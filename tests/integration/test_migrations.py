"""The schema: what the migrations make of an empty database, also when several processes start at once."""

import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from app.store.migrate import migrate

ROOT = Path(__file__).parents[2]

COLUMNS = """
    SELECT c.relname || '.' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
           || CASE WHEN a.attnotnull THEN ' not null' ELSE '' END
           || CASE a.attstorage WHEN t.typstorage THEN '' ELSE ' storage ' || a.attstorage::text END
      FROM pg_class c
      JOIN pg_attribute a ON a.attrelid = c.oid
      JOIN pg_type t ON t.oid = a.atttypid
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped
     ORDER BY c.relname, a.attnum"""
INDEXES = """
    SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY tablename, indexname"""
CONSTRAINTS = """
    SELECT c.relname || ': ' || pg_get_constraintdef(k.oid)
      FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
     WHERE k.connamespace = 'public'::regnamespace AND k.contype IN ('c', 'f') ORDER BY 1"""
POLICIES = """
    SELECT tablename || ' ' || policyname || ' for ' || cmd || ' using ' || coalesce(qual, '-')
           || ' check ' || coalesce(with_check, '-')
      FROM pg_policies WHERE schemaname = 'public' ORDER BY tablename, policyname"""
OPTIONS = """
    SELECT relname || ' ' || array_to_string(reloptions, ', ')
      FROM pg_class WHERE relnamespace = 'public'::regnamespace AND reloptions IS NOT NULL ORDER BY relname"""
PRIVILEGES = """
    SELECT table_name || ' ' || string_agg(privilege_type::text, ', ' ORDER BY privilege_type)
      FROM information_schema.role_table_grants
     WHERE table_schema = 'public' AND grantee = 'ricordo_serving' GROUP BY table_name ORDER BY table_name"""

PARTS = {
    "columns": COLUMNS,
    "indexes": INDEXES,
    "constraints": CONSTRAINTS,
    "policies": POLICIES,
    "options": OPTIONS,
    "privileges of ricordo_serving": PRIVILEGES,
}

FOUR = """
import os, sys
from app.store.migrate import migrate

children = []
for _ in range(4):
    if not (child := os.fork()):
        migrate(sys.argv[1])
        os._exit(0)
    children.append(child)
print([os.waitpid(child, 0)[1] for child in children])
"""

OF_NO_PERSON = {
    "tenants",
    "tenant_secrets",
    "api_keys",
    "embedding_models",
    "spaces",
    "idempotency_keys",
    "alembic_version",
    "history_settings",
    "llm_usage",
}


def rows(url, statement, *parameters):
    with psycopg.connect(url) as connection:
        return connection.execute(statement, parameters or None).fetchall()


def schema(url):
    parts = [f"-- {title}\n" + "\n".join(line for (line,) in rows(url, sql)) for title, sql in PARTS.items()]
    return "\n\n".join(parts) + "\n"


@pytest.fixture(scope="module")
def migrated(store):
    return store.url


def test_an_empty_database_becomes_the_expected_schema(migrated, golden):
    golden("schema.txt", schema(migrated))


def test_migrating_again_changes_nothing(migrated):
    before = schema(migrated), rows(migrated, "SELECT * FROM alembic_version")
    migrate(migrated)
    assert (schema(migrated), rows(migrated, "SELECT * FROM alembic_version")) == before


def test_the_file_of_a_migration_starts_with_its_revision():
    """`migrate` tells from the names of the files whether there is anything to do."""
    for path in (ROOT / "alembic" / "versions").glob("*.py"):
        assert f'revision = "{path.name.partition("_")[0]}"' in path.read_text(encoding="utf-8")


def test_four_processes_that_migrate_at_once_all_succeed(new_database, migrated):
    url = new_database()
    command = [sys.executable, "-c", FOUR, url]
    launched = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, timeout=60)
    assert launched.stdout == b"[0, 0, 0, 0]\n"
    assert schema(url) == schema(migrated)


def test_every_table_with_a_tenant_is_under_forced_row_level_security_with_a_policy(migrated):
    tables = rows(
        migrated,
        """SELECT c.relname, c.relrowsecurity, c.relforcerowsecurity,
                  EXISTS (SELECT FROM pg_policies p WHERE p.tablename = c.relname AND p.qual ~ 'app.tenant_id')
             FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
            WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND a.attname = 'tenant_id'""",
    )
    assert len(tables) >= 14
    assert [name for name, *holds in tables if not all(holds)] == []


def test_every_other_table_holds_nothing_of_a_tenant(migrated):
    bare = rows(
        migrated,
        """SELECT relname FROM pg_class c
            WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relforcerowsecurity
            ORDER BY relname""",
    )
    assert bare == [("alembic_version",), ("embedding_models",)]


def test_the_primary_key_of_a_persons_data_starts_with_tenant_and_space(migrated):
    keys = rows(
        migrated,
        """SELECT c.relname, pg_get_constraintdef(k.oid)
             FROM pg_class c LEFT JOIN pg_constraint k ON k.conrelid = c.oid AND k.contype = 'p'
            WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')""",
    )
    of_persons = {name: key for name, key in keys if name not in OF_NO_PERSON}
    assert len(of_persons) >= 11
    assert [n for n, key in of_persons.items() if not key.startswith("PRIMARY KEY (tenant_id, space_id,")] == []


def test_vectors_are_stored_in_line(migrated):
    storage = rows(
        migrated,
        """SELECT attstorage FROM pg_attribute
            WHERE attrelid = 'entry_vectors'::regclass AND attname = 'embedding'""",
    )
    assert storage == [("p",)]


def test_the_serving_role_owns_nothing_and_cannot_log_in(migrated):
    assert rows(
        migrated, "SELECT rolcanlogin, rolsuper, rolbypassrls FROM pg_roles WHERE rolname = 'ricordo_serving'"
    ) == [(False, False, False)]
    owned = "SELECT relname FROM pg_class WHERE relowner = 'ricordo_serving'::regrole"
    assert rows(migrated, owned) == []
