-- counts --
-- Every space of a tenant: its model, and how many texts have a vector, by model. The model that serves a space has
-- one of every text.
SELECT s.id, s.model_id, coalesce(v.filled, '{}') AS filled
  FROM spaces s
  LEFT JOIN LATERAL (
    SELECT jsonb_object_agg(model_id, n) AS filled
      FROM (SELECT model_id, count(*) AS n
              FROM entry_vectors
             WHERE tenant_id = s.tenant_id AND space_id = s.id
             GROUP BY model_id) AS c) AS v ON TRUE
 WHERE s.tenant_id = %(tenant_id)s
 ORDER BY s.id;

-- hold --
-- Take the space for this transaction: writers take the same row.
SELECT model_id FROM spaces WHERE tenant_id = %(tenant_id)s AND id = %(space_id)s FOR UPDATE;

-- missing --
-- The texts that the serving model has a vector of and another one has not; served ones first.
SELECT s.id, s.text_version
  FROM entry_vectors s
 WHERE s.tenant_id = %(tenant_id)s AND s.space_id = %(space_id)s
   AND s.model_id = (SELECT model_id FROM spaces WHERE tenant_id = %(tenant_id)s AND id = %(space_id)s)
   AND NOT EXISTS (SELECT FROM entry_vectors t
                    WHERE t.tenant_id = %(tenant_id)s AND t.space_id = %(space_id)s AND t.model_id = %(model_id)s
                      AND t.id = s.id AND t.text_version = s.text_version)
 ORDER BY s.live DESC, s.id, s.text_version;

-- texts --
SELECT e.id, e.text_version, e.trigger, e.text, e.context
  FROM unnest(%(ids)s::uuid[], %(versions)s::int[]) AS wanted(id, version)
 CROSS JOIN LATERAL (
    SELECT * FROM entry_versions
     WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND id = wanted.id AND version = wanted.version
     LIMIT 1) AS e;

-- fill --
-- Add vectors of a model. What the arms filter by is copied from the vector of the model that serves: under the lock
-- it is that of the current version.
INSERT INTO entry_vectors (
    tenant_id, space_id, model_id, id, text_version, tier, live, scope_key, holds_from, holds_to, centred_norm, embedding)
SELECT s.tenant_id, s.space_id, %(model_id)s, s.id, s.text_version, s.tier, s.live, s.scope_key, s.holds_from, s.holds_to,
       greatest(fresh.embedding::vector <-> %(centre)s::vector, 0.05), fresh.embedding
  FROM unnest(%(ids)s::uuid[], %(versions)s::int[], %(embeddings)s::halfvec[]) AS fresh(id, version, embedding)
 CROSS JOIN LATERAL (
    SELECT * FROM entry_vectors
     WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND model_id = %(serving_id)s
       AND id = fresh.id AND text_version = fresh.version
     LIMIT 1) AS s
    ON CONFLICT DO NOTHING;

-- filled --
SELECT id, text_version FROM entry_vectors
 WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND model_id = %(model_id)s
 ORDER BY id, text_version;

-- rebase --
-- The norms of some vectors follow the centre.
UPDATE entry_vectors v
   SET centred_norm = greatest(v.embedding::vector <-> %(centre)s::vector, 0.05)
  FROM unnest(%(ids)s::uuid[], %(versions)s::int[]) AS wanted(id, version)
 WHERE v.tenant_id = %(tenant_id)s AND v.space_id = %(space_id)s AND v.model_id = %(model_id)s
   AND v.id = wanted.id AND v.text_version = wanted.version
   AND v.centred_norm <> greatest(v.embedding::vector <-> %(centre)s::vector, 0.05)::real;

-- serve_by --
UPDATE spaces SET model_id = %(model_id)s WHERE tenant_id = %(tenant_id)s AND id = %(space_id)s;

-- drop_vectors --
-- Some vectors of a model that does not serve the space.
DELETE FROM entry_vectors
 WHERE ctid = ANY(ARRAY(
        SELECT v.ctid FROM entry_vectors v
         WHERE v.tenant_id = %(tenant_id)s AND v.space_id = %(space_id)s AND v.model_id = %(model_id)s
           AND v.model_id <> %(serving_id)s
         LIMIT %(limit)s));

-- drop_centre --
DELETE FROM space_centres
 WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND model_id = %(model_id)s AND model_id <> %(serving_id)s;
