-- How many tokens a tenant has had a language model take on a day (UTC). Rows of past days are of no use and are purged.
CREATE TABLE llm_usage (
    tenant_id uuid NOT NULL,
    day date NOT NULL,
    tokens bigint NOT NULL CHECK (tokens >= 0),
    PRIMARY KEY (tenant_id, day)
);

GRANT SELECT, INSERT, UPDATE, DELETE ON llm_usage TO ricordo_serving;
ALTER TABLE llm_usage ENABLE ROW LEVEL SECURITY;
ALTER TABLE llm_usage FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON llm_usage
    USING (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
    WITH CHECK (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);

-- A number that stands for a memory's normalised text: what is said again is found by it. NULL for other tiers, and for
-- versions from before this column, which nothing repeats until they are written again.
ALTER TABLE entry_versions ADD COLUMN normal bigint;
CREATE INDEX entry_versions_normal ON entry_versions (tenant_id, space_id, normal)
    WHERE closed_at IS NULL AND status = 'active' AND normal IS NOT NULL;
