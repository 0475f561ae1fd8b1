"""Tenants are kept apart by the database: every table of the catalog, as the role that serves."""

from contextlib import asynccontextmanager
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql

VALUES = {
    "uuid": "gen_random_uuid()",
    "text": "gen_random_uuid()::text",
    "text[]": "'{}'",
    "uuid[]": "'{}'",
    "bytea": "'x'",
    "integer": "1",
    "smallint": "1",
    "bigint": "1",
    "bigint[]": "'{}'",
    "boolean": "true",
    "real": "1",
    "double precision": "1",
    "jsonb": "'{}'",
    "timestamp with time zone": "now()",
    "date": "current_date",
    "tier": "'memories'",
    "halfvec": "'[1]'",
    "vector": "'[1]'",
}
CHECKED = {
    "status": "'active'",
    "role": "'reader'",
    "cardinality": "'one'",
    "claim_cardinality": "'one'",
    "state": "'waiting'",
}
READ_ONLY = {"tenants"}


@pytest.fixture(scope="module")
async def tables(store):
    """Every table that knows tenants, with the column that names them and its other columns."""
    found = await store.sql(
        """SELECT c.relname AS name, a.attname AS column, format_type(a.atttypid, NULL) AS type
             FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
            WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
              AND a.attnum > 0 AND NOT a.attisdropped AND a.attidentity = '' AND a.attgenerated = ''"""
    )
    columns = {}
    for row in found:
        columns.setdefault(row["name"], {})[row["column"]] = row["type"]
    known = {name: of for name, of in columns.items() if "tenant_id" in of or name == "tenants"}
    assert len(known) >= 15
    return known


def owner(table):
    return "id" if table == "tenants" else "tenant_id"


def insertion(table, columns, tenant_id):
    """A statement that adds a row of a tenant to any table."""
    values = {name: CHECKED.get(name, VALUES[kind]) for name, kind in columns.items()}
    values[owner(table)] = f"'{tenant_id}'"
    names = ", ".join(values)
    return f"INSERT INTO {table} ({names}) VALUES ({', '.join(values.values())})"


@pytest.fixture(scope="module")
async def two_tenants(store, tables):
    """Two tenants with a row in every table."""
    tenants = uuid4(), uuid4()
    for tenant_id in tenants:
        for table in ("tenants", *sorted(tables.keys() - {"tenants"})):
            await store.sql(insertion(table, tables[table], tenant_id))
    return tenants


@pytest.fixture
def serving(store):
    """Transactions of the serving role that change nothing for good, with settings."""

    @asynccontextmanager
    async def transaction(**settings):
        async with store.pool.connection() as connection, connection.transaction(force_rollback=True):
            for name, value in settings.items():
                await connection.execute("SELECT set_config(%s, %s, true)", (f"app.{name}", str(value)))
            yield connection

    return transaction


async def count(connection, table, tenant_id=None):
    query = sql.SQL("SELECT count(*) FROM {} WHERE %(id)s::uuid IS NULL OR {} = %(id)s::uuid")
    names = sql.Identifier(table), sql.Identifier(owner(table))
    (number,) = await (await connection.execute(query.format(*names), {"id": tenant_id})).fetchone()
    return number


async def test_the_pool_serves_as_a_role_that_policies_bind(serving):
    async with serving() as connection:
        row = await (await connection.execute("SELECT current_user, row_security_active('entry_versions')")).fetchone()
    assert row == ("ricordo_serving", True)


async def test_without_a_tenant_no_row_of_any_table_is_visible(serving, tables, two_tenants):
    async with serving() as connection:
        assert {table: await count(connection, table) for table in tables} == dict.fromkeys(tables, 0)


async def test_after_a_transaction_its_tenant_is_forgotten(store, tables, two_tenants):
    async with store.pool.connection() as connection:
        async with connection.transaction():
            await connection.execute("SELECT set_config('app.tenant_id', %s, true)", (str(two_tenants[0]),))
            assert await count(connection, "entry_versions") == 1
        assert {table: await count(connection, table) for table in tables} == dict.fromkeys(tables, 0)


async def test_a_tenant_sees_its_own_row_of_every_table_and_nothing_of_another(serving, tables, two_tenants):
    mine, theirs = two_tenants
    async with serving(tenant_id=mine) as connection:
        seen = {t: (await count(connection, t), await count(connection, t, theirs)) for t in tables}
    assert seen == dict.fromkeys(tables, (1, 0))


async def test_a_tenant_can_neither_change_nor_delete_a_row_of_another(serving, tables, two_tenants):
    mine, theirs = two_tenants
    for table in tables.keys() - READ_ONLY:
        async with serving(tenant_id=mine) as connection:
            for statement in (
                "UPDATE {t} SET tenant_id = tenant_id WHERE tenant_id = %s",
                "DELETE FROM {t} WHERE tenant_id = %s",
            ):
                query = sql.SQL(statement).format(t=sql.Identifier(table))
                assert ((await connection.execute(query, (theirs,))).rowcount, table) == (0, table)
                assert ((await connection.execute(query, (mine,))).rowcount, table) == (1, table)


async def test_a_tenant_can_neither_add_a_row_to_another_nor_hand_one_over(serving, tables, two_tenants):
    mine, theirs = two_tenants
    for table in tables.keys() - READ_ONLY:
        hand_over = f"UPDATE {table} SET tenant_id = '{theirs}'"
        for statement in (insertion(table, tables[table], theirs), hand_over):
            async with serving(tenant_id=mine) as connection:
                with pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"):
                    await connection.execute(statement)


async def test_the_serving_role_cannot_touch_tenants_models_and_schema(serving, two_tenants):
    for statement in (
        insertion("tenants", {"id": "uuid", "name": "text", "created_at": "timestamp with time zone"}, uuid4()),
        "DELETE FROM tenants",
        "DELETE FROM embedding_models",
        "ALTER TABLE entry_versions DISABLE ROW LEVEL SECURITY",
        "DROP TABLE entry_versions",
    ):
        async with serving(tenant_id=two_tenants[0]) as connection:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                await connection.execute(statement)


async def test_a_key_is_visible_by_its_exact_prefix_alone_and_only_to_be_read(serving, store, two_tenants):
    mine, theirs = two_tenants
    (key,) = await store.sql("SELECT prefix FROM api_keys WHERE tenant_id = %s", theirs)
    prefix = key["prefix"]
    for guess, visible in {prefix: 1, prefix[:-1]: 0, prefix + "x": 0, "%": 0, "": 0}.items():
        async with serving(key_prefix=guess) as connection:
            assert (guess, await count(connection, "api_keys")) == (guess, visible)
            assert await count(connection, "entry_versions") == 0
    async with serving(key_prefix=prefix) as connection:
        assert (await connection.execute("DELETE FROM api_keys")).rowcount == 0
        assert (await connection.execute("UPDATE api_keys SET role = 'administrator'")).rowcount == 0
    async with serving(key_prefix=prefix, tenant_id=mine) as connection:
        assert (await connection.execute("DELETE FROM api_keys")).rowcount == 1
