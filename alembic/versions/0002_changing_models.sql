-- Two embedding models side by side. docs/decisions/009-changing-models.md

-- `kind` and `options` say how the model is built (never a key); empty until a service that uses it has started.
-- New spaces are served by the current model.
ALTER TABLE embedding_models
    ADD COLUMN kind text,
    ADD COLUMN options jsonb NOT NULL DEFAULT '{}',
    ADD COLUMN is_current boolean NOT NULL DEFAULT FALSE;
UPDATE embedding_models SET is_current = TRUE WHERE id = (SELECT min(id) FROM embedding_models);
CREATE UNIQUE INDEX embedding_models_current ON embedding_models (is_current) WHERE is_current;

CREATE FUNCTION current_model() RETURNS smallint STABLE LANGUAGE sql
    RETURN (SELECT id FROM embedding_models WHERE is_current);

-- The model that serves a space. The default is evaluated once for the rows that are there: nothing is rewritten.
ALTER TABLE spaces ADD COLUMN model_id smallint NOT NULL DEFAULT current_model();

-- A space's id is derived from its name, so its primary key keeps names apart. Beside a second unique index, the
-- first writes of a new space that come at the same moment fail (ON CONFLICT waits for one index only).
ALTER TABLE spaces DROP CONSTRAINT spaces_tenant_id_name_key;
CREATE INDEX spaces_name ON spaces (tenant_id, name);
