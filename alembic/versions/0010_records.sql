-- Structured state, changed by explicit calls only, as versions: the current one has no `closed_at`. `subjects` are
-- the spaces of those it is about. `text` is what a prompt says of it; its claim outranks those of memories.
CREATE TABLE record_versions (
    tenant_id uuid NOT NULL,
    space_id uuid NOT NULL,
    id uuid NOT NULL,
    version integer NOT NULL,
    kind text NOT NULL,
    subjects text[] NOT NULL,
    payload jsonb NOT NULL,
    text text NOT NULL,
    claim_subject text,
    claim_attribute text,
    claim_value text,
    status text NOT NULL CHECK (status IN ('open', 'done', 'cancelled')),
    expires_at timestamptz,
    created_at timestamptz NOT NULL,
    recorded_at timestamptz NOT NULL,
    closed_at timestamptz,
    reason text NOT NULL,
    PRIMARY KEY (tenant_id, space_id, id, version)
);
CREATE UNIQUE INDEX record_versions_current ON record_versions (tenant_id, space_id, id) WHERE closed_at IS NULL;
CREATE INDEX record_versions_open ON record_versions (tenant_id, space_id, recorded_at DESC, id DESC)
    WHERE closed_at IS NULL AND status = 'open';

-- The ingestion barrier: what a record holds of a turn is not kept as personal memory too. `space_id` is that of the
-- turn; `turn` is its id, ours or the platform's, and it may come later. `viewer` is who stays out: '' for all.
CREATE TABLE barriers (
    tenant_id uuid NOT NULL,
    space_id uuid NOT NULL,
    turn text NOT NULL,
    viewer text NOT NULL,
    record uuid NOT NULL,
    raised_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, space_id, turn, viewer)
);

-- What became of a job beside its state: who was kept out by a barrier.
ALTER TABLE jobs ADD COLUMN note text;

GRANT SELECT, INSERT, UPDATE, DELETE ON record_versions, barriers TO ricordo_serving;

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['record_versions', 'barriers']
    LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format(
            'CREATE POLICY tenant ON %I USING (tenant_id = nullif(current_setting(''app.tenant_id'', true), '''')::uuid) '
            'WITH CHECK (tenant_id = nullif(current_setting(''app.tenant_id'', true), '''')::uuid)', name);
    END LOOP;
END $$;
