-- space_state --
SELECT s.sequence, s.model_id,
       coalesce((SELECT sum(t.documents) FROM tier_statistics t
                  WHERE t.tenant_id = s.tenant_id AND t.space_id = s.id), 0)::bigint AS live
  FROM spaces s
 WHERE s.tenant_id = %(tenant_id)s AND s.id = %(space_id)s;

-- scan --
-- Live entries of a tier after a given one, by id. The text comes along where its outline is not of these rules.
SELECT e.id, e.version, e.scope, e.category, e.importance, e.last_confirmed_at, e.recorded_at, e.reason, e.unresolved,
       coalesce(e.occurred_at, e.valid_from) AS begins, %(pinned)s = ANY(e.tags) AS is_pinned, e.outline,
       e.claim_subject, e.claim_attribute, e.claim_value, e.claim_cardinality,
       coalesce(u.uses, 0) AS uses, c.subject, c.attribute, c.value,
       CASE WHEN substring(e.outline FROM 1 FOR 4) = %(rules)s::bytea THEN NULL ELSE e.text END AS text
  FROM (SELECT * FROM entry_versions
         WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND tier_key = tier_key(%(tier)s::tier)
           AND id > %(after)s AND closed_at IS NULL AND status = 'active'
         ORDER BY id
         LIMIT %(limit)s) AS e
  LEFT JOIN LATERAL (
    SELECT uses FROM entry_uses
     WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND id = e.id
     LIMIT 1) AS u ON TRUE
  LEFT JOIN LATERAL (
    SELECT subject, attribute, value FROM claims
     WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND id = e.id
     LIMIT 1) AS c ON TRUE
 ORDER BY e.id;

-- load --
-- Live entries in full, each with the vector that a model has of its text.
SELECT e.*, e.tier::text AS tier, s.name AS space, v.embedding
  FROM unnest(%(ids)s::uuid[]) AS wanted(id)
 CROSS JOIN LATERAL (
    SELECT * FROM entry_versions
     WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND id = wanted.id
       AND closed_at IS NULL AND status = 'active'
     LIMIT 1) AS e
  JOIN spaces s ON s.tenant_id = e.tenant_id AND s.id = e.space_id
  LEFT JOIN LATERAL (
    SELECT embedding FROM entry_vectors
     WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND model_id = %(model_id)s
       AND id = e.id AND text_version = e.text_version
     LIMIT 1) AS v ON TRUE;

-- pending --
SELECT kept, kept_version, superseded, superseded_version, why FROM supersession_proposals
 WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s
 ORDER BY proposed_at, kept, superseded;

-- keep_outlines --
UPDATE entry_versions e SET outline = fresh.outline
  FROM unnest(%(ids)s::uuid[], %(versions)s::int[], %(outlines)s::bytea[]) AS fresh(id, version, outline)
 WHERE e.tenant_id = %(tenant_id)s AND e.space_id = %(space_id)s AND e.id = fresh.id AND e.version = fresh.version
   AND e.closed_at IS NULL;

-- stale_norms --
-- Texts whose norm is not the distance from the centre: the centre moved, and somebody was stopped on the way.
SELECT v.id, v.text_version
  FROM entry_vectors v
 WHERE v.tenant_id = %(tenant_id)s AND v.space_id = %(space_id)s AND v.model_id = %(model_id)s
   AND abs(v.centred_norm - greatest(v.embedding::vector <-> %(centre)s::vector, 0.05)) > 0.0001
 ORDER BY v.id, v.text_version;

-- mark --
UPDATE spaces SET consolidated_at = now(), consolidated_sequence = %(sequence)s
 WHERE tenant_id = %(tenant_id)s AND id = %(space_id)s;

-- due --
-- Spaces that were written to since, and once a week all others: what they hold has faded meanwhile.
SELECT name FROM spaces
 WHERE tenant_id = %(tenant_id)s AND sequence > 0
   AND coalesce(consolidated_at, created_at) < now() - make_interval(secs => %(hours)s * 3600.0)
   AND (consolidated_sequence IS DISTINCT FROM sequence OR consolidated_at < now() - interval '7 days')
 ORDER BY coalesce(consolidated_at, created_at), id
 LIMIT %(limit)s;
