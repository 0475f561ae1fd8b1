-- Corrections and wishes to be forgotten that are said in a conversation. docs/decisions/017-corrections.md

-- Where it was said: the turn, the message as it was read, and which of its sentences. `receipt`: of what was forgotten.
ALTER TABLE corrections
    ADD COLUMN turn uuid,
    ADD COLUMN turn_space uuid,
    ADD COLUMN message uuid,
    ADD COLUMN version integer,
    ADD COLUMN key bytea,
    ADD COLUMN said_at timestamptz,
    ADD COLUMN receipt uuid;
CREATE INDEX corrections_said ON corrections (tenant_id, space_id, turn, message, key) WHERE turn IS NOT NULL;

-- Whether what a message says put something right: such evidence is kept by corrections, the other by extraction.
ALTER TABLE memory_evidence ADD COLUMN corrects boolean NOT NULL DEFAULT FALSE;

-- What a person said, in whatever stream: their words are found when they are to be forgotten.
CREATE INDEX messages_personal ON messages (tenant_id, personal_space) WHERE personal_space IS NOT NULL;

-- That an entry was once derived stays known by its id, so that it is not derived again; and an episode has the number of
-- the turn or conversation that it is made of, whose words go by themselves. Such rows are nothing that is left.
CREATE OR REPLACE FUNCTION remaining(tenant uuid, space uuid, ids uuid[], until uuid) RETURNS jsonb STABLE LANGUAGE plpgsql AS $$
DECLARE
    table_name name;
    found bigint;
    counts jsonb := '{}';
BEGIN
    FOR table_name IN
        SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
         WHERE c.relnamespace = current_schema()::regnamespace AND c.relname IN (SELECT space_tables())
           AND c.relname <> 'derived_entries' AND (ids IS NULL OR c.relname NOT IN ('turns', 'conversations')) AND a.attname = 'id' AND a.atttypid = 'uuid'::regtype
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
