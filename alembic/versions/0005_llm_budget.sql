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
