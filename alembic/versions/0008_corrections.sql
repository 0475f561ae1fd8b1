-- Corrections that last, and forgetting. docs/decisions/017-corrections.md, 015-forgetting.md

-- Whether somebody said so to put something else right. A correction's value outranks what it replaced for good.
ALTER TABLE entry_versions ADD COLUMN corrected boolean NOT NULL DEFAULT FALSE;

-- What was asked to be put right, and what came of it. `before` and `after` are versions of entries, `entries` all that
-- it concerns: with any of them the row is erased. `told` is what the next prompt says of it, where `scope` is visible;
-- `asked` and `options` stand while a question is open.
CREATE TABLE corrections (
    tenant_id uuid NOT NULL,
    space_id uuid NOT NULL,
    id uuid NOT NULL,
    created_at timestamptz NOT NULL,
    outcome text NOT NULL,
    scope text NOT NULL,
    told text NOT NULL,
    entries uuid[] NOT NULL,
    before jsonb NOT NULL,
    after jsonb NOT NULL,
    asked jsonb,
    options jsonb NOT NULL,
    answered_by uuid,
    shown_at timestamptz,
    PRIMARY KEY (tenant_id, space_id, id)
);
CREATE INDEX corrections_untold ON corrections (tenant_id, space_id, id) WHERE shown_at IS NULL;

-- What must not come back: keyed hashes of texts, claims and ids, never a text. `corrected`: a value that was put right,
-- in a scope, and by which entry. `erased`: what was forgotten.
CREATE TABLE tombstones (
    tenant_id uuid NOT NULL,
    space_id uuid NOT NULL,
    digest bytea NOT NULL,
    kind text NOT NULL,
    entry uuid,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, space_id, digest, kind)
);

-- What an erasure removed: counts and ids, no text. `digest` seals the body.
CREATE TABLE receipts (
    tenant_id uuid NOT NULL,
    space_id uuid NOT NULL,
    id uuid NOT NULL,
    created_at timestamptz NOT NULL,
    body jsonb NOT NULL,
    digest bytea NOT NULL,
    PRIMARY KEY (tenant_id, space_id, id)
);

-- The key of a tenant's tombstones and receipts; made when it is first needed.
CREATE TABLE tenant_secrets (
    tenant_id uuid PRIMARY KEY,
    secret bytea NOT NULL
);

-- The tables that hold what a space remembers: all that know tenant and space, but for the traces of forgetting itself.
CREATE FUNCTION space_tables() RETURNS SETOF name STABLE LANGUAGE sql AS $$
    SELECT c.relname
      FROM pg_class c
     WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
       AND c.relname NOT IN ('tombstones', 'receipts')
       AND 2 = (SELECT count(*) FROM pg_attribute a
                 WHERE a.attrelid = c.oid AND a.attname IN ('tenant_id', 'space_id') AND NOT a.attisdropped)
     ORDER BY c.relname
$$;

-- Remove everything that a space holds; rows by table. Row-level security holds: it runs as whoever calls it.
CREATE FUNCTION erase_space(tenant uuid, space uuid) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    table_name name;
    removed bigint;
    counts jsonb := '{}';
BEGIN
    FOR table_name IN SELECT space_tables() LOOP
        EXECUTE format('DELETE FROM %I WHERE tenant_id = $1 AND space_id = $2', table_name) USING tenant, space;
        GET DIAGNOSTICS removed = ROW_COUNT;
        counts := counts || jsonb_build_object(table_name, removed);
    END LOOP;
    DELETE FROM spaces WHERE tenant_id = tenant AND id = space;
    GET DIAGNOSTICS removed = ROW_COUNT;
    RETURN counts || jsonb_build_object('spaces', removed);
END $$;

-- How many rows of items that should be gone there are, by table: of given ids, or all that were made up to a given one.
CREATE FUNCTION remaining(tenant uuid, space uuid, ids uuid[], until uuid) RETURNS jsonb STABLE LANGUAGE plpgsql AS $$
DECLARE
    table_name name;
    found bigint;
    counts jsonb := '{}';
BEGIN
    FOR table_name IN
        SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
         WHERE c.relnamespace = current_schema()::regnamespace AND c.relname IN (SELECT space_tables())
           AND a.attname = 'id' AND a.atttypid = 'uuid'::regtype
    LOOP
        EXECUTE format('SELECT count(*) FROM %I WHERE tenant_id = $1 AND space_id = $2 '
                       'AND ($3 IS NULL OR id = ANY($3)) AND ($4 IS NULL OR id <= $4)', table_name)
            INTO found USING tenant, space, ids, until;
        IF found > 0 THEN
            counts := counts || jsonb_build_object(table_name, found);
        END IF;
    END LOOP;
    RETURN counts;
END $$;

GRANT SELECT, INSERT, UPDATE, DELETE ON corrections, tombstones, receipts, tenant_secrets TO ricordo_serving;

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['corrections', 'tombstones', 'receipts', 'tenant_secrets'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format(
            'CREATE POLICY tenant ON %I USING (tenant_id = nullif(current_setting(''app.tenant_id'', true), '''')::uuid) '
            'WITH CHECK (tenant_id = nullif(current_setting(''app.tenant_id'', true), '''')::uuid)', name);
    END LOOP;
END $$;
