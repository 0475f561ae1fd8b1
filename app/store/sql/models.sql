-- models --
-- All models of the store, the current one first.
SELECT id, name, dimensions, mean, question_shift, kind, options, is_current
  FROM embedding_models
 ORDER BY is_current DESC, id;

-- add_model --
-- The first one becomes the current one.
INSERT INTO embedding_models (name, dimensions, mean, question_shift, kind, options, is_current, created_at)
SELECT %(name)s, %(dimensions)s, %(mean)s, %(question_shift)s, %(kind)s::text, %(options)s::jsonb,
       NOT EXISTS (SELECT FROM embedding_models WHERE is_current), now()
    ON CONFLICT (name) DO NOTHING;

-- describe_model --
UPDATE embedding_models SET kind = %(kind)s::text, options = %(options)s::jsonb
 WHERE name = %(name)s AND (kind, options) IS DISTINCT FROM (%(kind)s::text, %(options)s::jsonb);

-- retire_current --
-- With mark_current, in one transaction.
UPDATE embedding_models SET is_current = FALSE WHERE is_current AND id <> %(id)s;

-- mark_current --
UPDATE embedding_models SET is_current = TRUE WHERE id = %(id)s AND NOT is_current;

-- await_writers --
-- Returns once every write that began before has ended. Writers wait for a moment, readers never.
LOCK TABLE spaces IN SHARE MODE;

-- remove_model --
DELETE FROM embedding_models WHERE id = %(id)s AND NOT is_current;

-- claim_change --
-- One change of models at a time: held for as long as the connection.
SELECT pg_advisory_lock(7263001443);
