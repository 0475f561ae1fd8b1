-- Memories that grow from what was said. docs/decisions/014-turns.md

-- Where it was said: what comes of it holds there. A turn without a scope of its own has its session's.
ALTER TABLE sessions ADD COLUMN scope text NOT NULL DEFAULT '';
ALTER TABLE turns ADD COLUMN scope text NOT NULL DEFAULT '';

-- What one message says, and the memory that rests on it, in the memory's space. `key` stands for what is said; `content`
-- is the memory as this message alone would make it. A row without content is of a memory that its owner erased: what
-- the message says is not remembered again.
CREATE TABLE memory_evidence (
    tenant_id uuid NOT NULL,
    space_id uuid NOT NULL,
    turn uuid NOT NULL,
    message uuid NOT NULL,
    key bytea NOT NULL,
    version integer NOT NULL,
    entry uuid NOT NULL,
    said_at timestamptz NOT NULL,
    content jsonb,
    PRIMARY KEY (tenant_id, space_id, turn, message, key)
);
CREATE INDEX memory_evidence_entry ON memory_evidence (tenant_id, space_id, entry);

GRANT SELECT, INSERT, UPDATE, DELETE ON memory_evidence TO ricordo_serving;
ALTER TABLE memory_evidence ENABLE ROW LEVEL SECURITY;
ALTER TABLE memory_evidence FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON memory_evidence
    USING (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
    WITH CHECK (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
