-- What was said, and the work on it. docs/decisions/010-turns.md

-- A session is a platform's conversation, bound to one space. `id` is derived from `name` where the platform gave
-- one. `conversation` is the one that is open.
CREATE TABLE sessions (
    tenant_id uuid NOT NULL,
    space_id uuid NOT NULL,
    id uuid NOT NULL,
    name text,
    conversation uuid,
    started_at timestamptz NOT NULL,
    last_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, space_id, id)
) WITH (fillfactor = 60);
CREATE INDEX sessions_latest ON sessions (tenant_id, space_id, last_at DESC, id DESC);

-- What was said without a gap of half an hour; closed by the gap or by the session's end, then summarised.
-- `recorded_at`: when its last turn came; it may tell of something that was said long before.
CREATE TABLE conversations (
    tenant_id uuid NOT NULL,
    space_id uuid NOT NULL,
    id uuid NOT NULL,
    session uuid NOT NULL,
    started_at timestamptz NOT NULL,
    last_at timestamptz NOT NULL,
    recorded_at timestamptz NOT NULL,
    closed_at timestamptz,
    summary jsonb,
    PRIMARY KEY (tenant_id, space_id, id)
) WITH (fillfactor = 60);
CREATE INDEX conversations_session ON conversations (tenant_id, space_id, session, id);
CREATE INDEX conversations_open ON conversations (tenant_id, recorded_at) WHERE closed_at IS NULL;

-- One batch of messages with the reply. `given_id` is the platform's id; `fingerprint` tells a repetition from
-- another turn under the same id. Every change of a message adds one to `revision`.
CREATE TABLE turns (
    tenant_id uuid NOT NULL,
    space_id uuid NOT NULL,
    id uuid NOT NULL,
    session uuid NOT NULL,
    conversation uuid NOT NULL,
    given_id text,
    fingerprint bytea NOT NULL,
    said_at timestamptz NOT NULL,
    recorded_at timestamptz NOT NULL,
    revision integer NOT NULL,
    PRIMARY KEY (tenant_id, space_id, id)
) WITH (fillfactor = 80);
CREATE UNIQUE INDEX turns_given ON turns (tenant_id, space_id, given_id) WHERE given_id IS NOT NULL;
CREATE INDEX turns_session ON turns (tenant_id, space_id, session, said_at, id);
CREATE INDEX turns_conversation ON turns (tenant_id, space_id, conversation, said_at, id);
CREATE INDEX turns_age ON turns (tenant_id, recorded_at, id);

-- What one author said. A deleted message keeps its row without a word, so that a repetition does not bring it back.
-- `personal_space` names the space of the author's own words. `terms` are what it is found by, once the history
-- task has indexed it.
CREATE TABLE messages (
    tenant_id uuid NOT NULL,
    space_id uuid NOT NULL,
    id uuid NOT NULL,
    turn uuid NOT NULL,
    session uuid NOT NULL,
    position smallint NOT NULL,
    given_id text,
    platform text NOT NULL,
    author_id text,
    author_name text,
    role text NOT NULL,
    text text NOT NULL,
    said_at timestamptz NOT NULL,
    recorded_at timestamptz NOT NULL,
    mentions text[] NOT NULL,
    media jsonb NOT NULL,
    event text,
    personal_space text,
    version integer NOT NULL,
    edited_at timestamptz,
    deleted_at timestamptz,
    terms bigint[] NOT NULL,
    PRIMARY KEY (tenant_id, space_id, id)
) WITH (fillfactor = 80);
CREATE UNIQUE INDEX messages_given ON messages (tenant_id, space_id, platform, given_id) WHERE given_id IS NOT NULL;
CREATE INDEX messages_turn ON messages (tenant_id, space_id, turn, position);
CREATE INDEX messages_session ON messages (tenant_id, space_id, session, said_at DESC, id DESC);

-- The keyword index of past messages; a btree, because row-level security takes GIN indexes away.
CREATE TABLE message_postings (
    tenant_id uuid NOT NULL,
    space_id uuid NOT NULL,
    term bigint NOT NULL,
    id uuid NOT NULL,
    tf real NOT NULL,
    length integer NOT NULL,
    PRIMARY KEY (tenant_id, space_id, term, id) INCLUDE (tf, length)
) WITH (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_vacuum_insert_threshold = 5000);

-- Entries that a worker made from something. A row stays when the entry is erased: it is not made again.
CREATE TABLE derived_entries (
    tenant_id uuid NOT NULL,
    space_id uuid NOT NULL,
    id uuid NOT NULL,
    made_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, space_id, id)
);

-- What the queue works on, as its tenant sees it: the queue itself knows no tenants and keeps no reasons. `erase`:
-- what was derived before must not stay in an earlier version.
CREATE TABLE jobs (
    tenant_id uuid NOT NULL,
    space_id uuid NOT NULL,
    id uuid NOT NULL,
    task text NOT NULL,
    subject uuid NOT NULL,
    erase boolean NOT NULL,
    state text NOT NULL CHECK (state IN ('waiting', 'succeeded', 'failed')),
    attempts integer NOT NULL,
    error text,
    created_at timestamptz NOT NULL,
    tried_at timestamptz,
    PRIMARY KEY (tenant_id, space_id, id)
) WITH (fillfactor = 60);
CREATE INDEX jobs_state ON jobs (tenant_id, state, id);

-- How long a tenant's history is kept (NULL: the default), and what the last purge did.
CREATE TABLE history_settings (
    tenant_id uuid PRIMARY KEY,
    days integer CHECK (days BETWEEN 1 AND 36500),
    report jsonb
);

GRANT SELECT, INSERT, UPDATE, DELETE ON
    sessions, conversations, turns, messages, message_postings, derived_entries, jobs, history_settings
    TO ricordo_serving;

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['sessions', 'conversations', 'turns', 'messages', 'message_postings',
        'derived_entries', 'jobs', 'history_settings']
    LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format(
            'CREATE POLICY tenant ON %I USING (tenant_id = nullif(current_setting(''app.tenant_id'', true), '''')::uuid) '
            'WITH CHECK (tenant_id = nullif(current_setting(''app.tenant_id'', true), '''')::uuid)', name);
    END LOOP;
END $$;

-- The queue is worked on by the role that serves.
GRANT USAGE ON SCHEMA queue TO ricordo_serving;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA queue TO ricordo_serving;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA queue TO ricordo_serving;
