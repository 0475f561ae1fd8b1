-- Entries that said the same and gave way to this one: they keep their own sources.
ALTER TABLE entry_versions ADD COLUMN merged_from uuid[] NOT NULL DEFAULT '{}';

-- When a space was consolidated last, and up to which write. Only what changed since, or is old, is looked at again.
CREATE TABLE space_consolidations (
    tenant_id uuid NOT NULL,
    space_id uuid NOT NULL,
    sequence bigint NOT NULL,
    consolidated_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, space_id)
) WITH (fillfactor = 50);

GRANT SELECT, INSERT, UPDATE, DELETE ON space_consolidations TO ricordo_serving;

ALTER TABLE space_consolidations ENABLE ROW LEVEL SECURITY;
ALTER TABLE space_consolidations FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON space_consolidations
    USING (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
    WITH CHECK (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
