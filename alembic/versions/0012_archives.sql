-- Forgetting reaches what was moved to an archive. docs/decisions/015-forgetting.md

-- Which files of the archive hold words of a space: said in it, or elsewhere by the person whose space it is.
CREATE TABLE archives (
    tenant_id uuid NOT NULL,
    space_id uuid NOT NULL,
    name text NOT NULL,
    PRIMARY KEY (tenant_id, space_id, name)
);
CREATE INDEX archives_name ON archives (tenant_id, name);

-- What is still to be taken out of a file, and because of which receipts. `messages` has what is left of each message
-- that is shortened, by its id, and '' for one that goes; NULL: the whole turn goes.
CREATE TABLE archive_cuts (
    tenant_id uuid NOT NULL,
    space_id uuid NOT NULL,
    name text NOT NULL,
    turn uuid NOT NULL,
    messages jsonb,
    receipts uuid[] NOT NULL,
    PRIMARY KEY (tenant_id, space_id, name, turn)
);

-- Cuts outlive the space: they are what is left to be done of its erasure.
CREATE OR REPLACE FUNCTION space_tables() RETURNS SETOF name STABLE LANGUAGE sql AS $$
    SELECT c.relname
      FROM pg_class c
     WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
       AND c.relname NOT IN ('tombstones', 'receipts', 'archive_cuts')
       AND 2 = (SELECT count(*) FROM pg_attribute a
                 WHERE a.attrelid = c.oid AND a.attname IN ('tenant_id', 'space_id') AND NOT a.attisdropped)
     ORDER BY c.relname
$$;

GRANT SELECT, INSERT, UPDATE, DELETE ON archives, archive_cuts TO ricordo_serving;

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['archives', 'archive_cuts'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format(
            'CREATE POLICY tenant ON %I USING (tenant_id = nullif(current_setting(''app.tenant_id'', true), '''')::uuid) '
            'WITH CHECK (tenant_id = nullif(current_setting(''app.tenant_id'', true), '''')::uuid)', name);
    END LOOP;
END $$;

-- What was asked in a logged request, and what had been said: the query, and the texts of its messages.
CREATE FUNCTION asked_in(request jsonb) RETURNS text IMMUTABLE PARALLEL SAFE LANGUAGE sql AS $$
    SELECT concat_ws(E'\n', request ->> 'query',
                     (SELECT string_agg(said #>> '{}', E'\n') FROM jsonb_path_query(request, '$.*[*].text') AS said))
$$;
