-- The store: one Postgres holds everything. docs/architecture.md explains the tables.
--
-- Every table that holds a person's data starts its primary key with (tenant_id, space_id), so that
-- it can be partitioned or distributed by space. Versions are append-only: a change closes the
-- current version (closed_at) and adds the next one.

CREATE EXTENSION IF NOT EXISTS vector;

CREATE TYPE tier AS ENUM ('memories', 'episodes', 'procedures');

-- Stands for the tier in indexes: comparing enums is not leakproof, so under row-level security it is no index
-- condition, and each tier would read the whole space.
CREATE FUNCTION tier_key(tier tier) RETURNS smallint IMMUTABLE LANGUAGE sql
    RETURN CASE tier WHEN 'memories' THEN 1 WHEN 'episodes' THEN 2 ELSE 3 END;

CREATE TABLE tenants (
    id uuid PRIMARY KEY,
    name text NOT NULL UNIQUE,
    created_at timestamptz NOT NULL
);

-- Keys and short-lived tokens. Only a hash is kept; `prefix` finds the row.
CREATE TABLE api_keys (
    tenant_id uuid NOT NULL REFERENCES tenants,
    id uuid NOT NULL,
    prefix text NOT NULL UNIQUE,
    secret_hash bytea NOT NULL,
    name text NOT NULL,
    role text NOT NULL CHECK (role IN ('reader', 'writer', 'editor', 'administrator')),
    spaces text[],
    created_at timestamptz NOT NULL,
    expires_at timestamptz,
    revoked_at timestamptz,
    PRIMARY KEY (tenant_id, id)
);

-- Which model filled the store, where its vectors of statements lie on average (a generic corpus), and
-- how far from there its vectors of questions lie.
CREATE TABLE embedding_models (
    id smallint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE,
    dimensions integer NOT NULL,
    mean vector NOT NULL,
    question_shift vector NOT NULL,
    created_at timestamptz NOT NULL
);

-- `sequence` numbers the writes of a space: it orders what clocks cannot. `written_at` is the time of the last.
CREATE TABLE spaces (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    name text NOT NULL,
    sequence bigint NOT NULL DEFAULT 0,
    written_at timestamptz NOT NULL DEFAULT '-infinity',
    created_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, name)
) WITH (fillfactor = 50);

-- What BM25 needs to know of a space: live documents of a tier, and their terms in all.
CREATE TABLE tier_statistics (
    tenant_id uuid NOT NULL,
    space_id uuid NOT NULL,
    tier tier NOT NULL,
    documents bigint NOT NULL,
    terms bigint NOT NULL,
    PRIMARY KEY (tenant_id, space_id, tier)
) WITH (fillfactor = 50);

-- `outline` is what app/assembly/outlines.py read in the text; without one the text is read at every assembly.
CREATE TABLE entry_versions (
    tenant_id uuid NOT NULL,
    space_id uuid NOT NULL,
    id uuid NOT NULL,
    version integer NOT NULL,
    text_version integer NOT NULL,
    sequence bigint NOT NULL,
    tier tier NOT NULL,
    tier_key smallint NOT NULL GENERATED ALWAYS AS (tier_key(tier)) STORED,
    status text NOT NULL CHECK (status IN ('active', 'superseded', 'retracted', 'archived')),
    text text NOT NULL,
    category text,
    tags text[] NOT NULL,
    scope text NOT NULL,
    claim_subject text,
    claim_attribute text,
    claim_value text,
    claim_cardinality text CHECK (claim_cardinality IN ('one', 'many')),
    claim_derived boolean NOT NULL,
    importance double precision,
    confidence double precision,
    valid_from timestamptz,
    valid_to timestamptz,
    occurred_at timestamptz,
    participants text[] NOT NULL,
    trigger text,
    author_name text,
    author_platform text,
    author_id text,
    session text,
    context text,
    source text,
    recorded_at timestamptz NOT NULL,
    first_recorded_at timestamptz NOT NULL,
    last_confirmed_at timestamptz NOT NULL,
    unresolved boolean NOT NULL,
    superseded_by uuid,
    reason text NOT NULL,
    terms bigint[] NOT NULL,
    term_count integer NOT NULL,
    outline bytea,
    closed_at timestamptz,
    PRIMARY KEY (tenant_id, space_id, id, version)
);
CREATE INDEX entry_versions_current ON entry_versions (tenant_id, space_id, tier_key, id)
    WHERE closed_at IS NULL;
CREATE INDEX entry_versions_superseded ON entry_versions (tenant_id, space_id, superseded_by)
    WHERE superseded_by IS NOT NULL;
CREATE INDEX entry_versions_preferences ON entry_versions (tenant_id, space_id, importance DESC, id)
    WHERE closed_at IS NULL AND status = 'active' AND importance >= 0.7
      AND category IN ('output_preference', 'personal_preference', 'assistant_preference');

-- One row per model and indexed text. `centred_norm` is the length of the vector once the space's
-- centre is taken away; `live`, `scope_key`, `holds_from` and `holds_to` mirror the current version,
-- so that the arms filter inside the index.
CREATE TABLE entry_vectors (
    tenant_id uuid NOT NULL,
    space_id uuid NOT NULL,
    model_id smallint NOT NULL,
    id uuid NOT NULL,
    text_version integer NOT NULL,
    tier tier NOT NULL,
    tier_key smallint NOT NULL GENERATED ALWAYS AS (tier_key(tier)) STORED,
    live boolean NOT NULL,
    scope_key bigint NOT NULL,
    holds_from timestamptz,
    holds_to timestamptz,
    centred_norm real NOT NULL,
    embedding halfvec NOT NULL,
    PRIMARY KEY (tenant_id, space_id, model_id, id, text_version)
) WITH (toast_tuple_target = 8160, autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_vacuum_insert_threshold = 500);
-- Out of line (the default for long values) an exact scan is seven times slower.
ALTER TABLE entry_vectors ALTER COLUMN embedding SET STORAGE PLAIN;
CREATE INDEX entry_vectors_live ON entry_vectors (tenant_id, space_id, model_id, tier_key)
    INCLUDE (id, text_version, scope_key, holds_from, holds_to, centred_norm, embedding)
    WHERE live;

-- The keyword index: one row per distinct term of an indexed text. Row-level security takes GIN
-- indexes away (their operators are not leakproof); a btree stays.
CREATE TABLE entry_postings (
    tenant_id uuid NOT NULL,
    space_id uuid NOT NULL,
    term bigint NOT NULL,
    id uuid NOT NULL,
    text_version integer NOT NULL,
    tier tier NOT NULL,
    live boolean NOT NULL,
    scope_key bigint NOT NULL,
    holds_from timestamptz,
    holds_to timestamptz,
    tf smallint NOT NULL,
    length integer NOT NULL,
    PRIMARY KEY (tenant_id, space_id, term, id, text_version)
        INCLUDE (tier, live, scope_key, holds_from, holds_to, tf, length)
) WITH (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_vacuum_insert_threshold = 5000);

-- What is claimed now. Keys are normalised; at most one resolved value of a single-valued attribute
-- per scope. `restated` rows repeat the value of the row that counts.
CREATE TABLE claims (
    tenant_id uuid NOT NULL,
    space_id uuid NOT NULL,
    id uuid NOT NULL,
    scope text NOT NULL,
    subject text NOT NULL,
    attribute text NOT NULL,
    value text NOT NULL,
    cardinality text NOT NULL CHECK (cardinality IN ('one', 'many')),
    unresolved boolean NOT NULL,
    restated boolean NOT NULL,
    PRIMARY KEY (tenant_id, space_id, id)
);
CREATE UNIQUE INDEX claims_current ON claims (tenant_id, space_id, scope, subject, attribute)
    WHERE cardinality = 'one' AND NOT unresolved AND NOT restated;
CREATE INDEX claims_key ON claims (tenant_id, space_id, subject, attribute);

CREATE TABLE entry_uses (
    tenant_id uuid NOT NULL,
    space_id uuid NOT NULL,
    id uuid NOT NULL,
    uses integer NOT NULL,
    last_session text NOT NULL,
    PRIMARY KEY (tenant_id, space_id, id)
) WITH (fillfactor = 60);

CREATE TABLE procedure_outcomes (
    tenant_id uuid NOT NULL,
    space_id uuid NOT NULL,
    id uuid NOT NULL,
    successes integer NOT NULL,
    failures integer NOT NULL,
    PRIMARY KEY (tenant_id, space_id, id)
) WITH (fillfactor = 60);

-- What is taken from the vectors of a space: its mean, drawn towards the model's while it is small.
-- Replaced as the space grows.
CREATE TABLE space_centres (
    tenant_id uuid NOT NULL,
    space_id uuid NOT NULL,
    model_id smallint NOT NULL,
    version integer NOT NULL,
    entries_count bigint NOT NULL,
    centre vector NOT NULL,
    PRIMARY KEY (tenant_id, space_id, model_id)
);

CREATE TABLE soul_blocks (
    tenant_id uuid NOT NULL,
    space_id uuid NOT NULL,
    id uuid NOT NULL,
    version integer NOT NULL,
    name text NOT NULL,
    text text NOT NULL,
    position integer NOT NULL,
    active boolean NOT NULL,
    recorded_at timestamptz NOT NULL,
    reason text NOT NULL,
    closed_at timestamptz,
    PRIMARY KEY (tenant_id, space_id, id, version)
);
CREATE UNIQUE INDEX soul_blocks_current ON soul_blocks (tenant_id, space_id, name) WHERE closed_at IS NULL;

-- What assemblies found: a proposal is applied, or becomes moot, at the next consolidation.
CREATE TABLE supersession_proposals (
    tenant_id uuid NOT NULL,
    space_id uuid NOT NULL,
    kept uuid NOT NULL,
    kept_version integer NOT NULL,
    superseded uuid NOT NULL,
    superseded_version integer NOT NULL,
    why text NOT NULL,
    proposed_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, space_id, superseded, kept)
);

-- The assembly log holds ids, versions and signals, never the text of an entry.
CREATE TABLE assemblies (
    tenant_id uuid NOT NULL,
    space_id uuid NOT NULL,
    id uuid NOT NULL,
    created_at timestamptz NOT NULL,
    request jsonb NOT NULL,
    outcome jsonb NOT NULL,
    PRIMARY KEY (tenant_id, space_id, id)
);
CREATE INDEX assemblies_age ON assemblies (tenant_id, created_at);

CREATE TABLE idempotency_keys (
    tenant_id uuid NOT NULL,
    key text NOT NULL,
    fingerprint bytea NOT NULL,
    outcome jsonb NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, key)
);

-- The role that serves. It owns nothing, so row-level security holds for it.
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'ricordo_serving') THEN
        CREATE ROLE ricordo_serving NOLOGIN;
    END IF;
    -- A user who may create no roles can be given this one beforehand. Postgres 16 tells being a member from
    -- being allowed to act as one.
    IF NOT pg_has_role(current_user, 'ricordo_serving',
                       CASE WHEN current_setting('server_version_num')::int < 160000 THEN 'MEMBER' ELSE 'SET' END) THEN
        EXECUTE format('GRANT ricordo_serving TO %I', current_user);
    END IF;
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO ricordo_serving', current_schema());
END $$;

GRANT SELECT ON embedding_models TO ricordo_serving;
GRANT SELECT ON tenants TO ricordo_serving;
GRANT SELECT, INSERT, UPDATE, DELETE ON
    api_keys, spaces, tier_statistics, entry_versions, entry_vectors, entry_postings, claims, entry_uses,
    procedure_outcomes, space_centres, soul_blocks, supersession_proposals, assemblies, idempotency_keys
    TO ricordo_serving;

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY[
        'spaces', 'tier_statistics', 'entry_versions', 'entry_vectors', 'entry_postings', 'claims', 'entry_uses',
        'procedure_outcomes', 'space_centres', 'soul_blocks', 'supersession_proposals', 'assemblies', 'idempotency_keys']
    LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format(
            'CREATE POLICY tenant ON %I USING (tenant_id = nullif(current_setting(''app.tenant_id'', true), '''')::uuid) '
            'WITH CHECK (tenant_id = nullif(current_setting(''app.tenant_id'', true), '''')::uuid)', name);
    END LOOP;
END $$;

ALTER TABLE tenants ENABLE ROW LEVEL SECURITY;
ALTER TABLE tenants FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON tenants USING (id = nullif(current_setting('app.tenant_id', true), '')::uuid);
-- Maintenance goes through the tenants one by one; the list of them is all that it sees across tenants.
CREATE POLICY maintenance ON tenants FOR SELECT USING (current_setting('app.maintenance', true) = 'on');

-- A key is looked up before its tenant is known: by its prefix alone, and only to be read.
ALTER TABLE api_keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE api_keys FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON api_keys
    USING (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
    WITH CHECK (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
CREATE POLICY lookup ON api_keys FOR SELECT USING (prefix = nullif(current_setting('app.key_prefix', true), ''));
