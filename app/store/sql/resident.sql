-- state --
-- What tells whether an index that is kept in memory is that of the space: every write and every erasure takes the
-- space and moves written_at.
SELECT s.sequence, s.written_at::text, s.created_at::text, s.model_id
  FROM spaces s
 WHERE s.tenant_id = %(tenant_id)s AND s.id = %(space_id)s;

-- statistics --
SELECT tier_key(tier), greatest(terms, 1)::float8 / greatest(documents, 1), documents
  FROM tier_statistics
 WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s;

-- centre --
-- What is taken from questions and from vectors: see `served` and `centre` in retrieval.sql.
SELECT m.question_shift, coalesce(c.centre, m.mean), coalesce(c.version, 0)
  FROM embedding_models m
  LEFT JOIN space_centres c
    ON c.tenant_id = %(tenant_id)s AND c.space_id = %(space_id)s AND c.model_id = m.id
 WHERE m.id = (SELECT model_id FROM spaces WHERE tenant_id = %(tenant_id)s AND id = %(space_id)s);

-- preferences --
-- The preference arm: independent of the query, in a stable order.
SELECT id, scope
  FROM entry_versions
 WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND closed_at IS NULL AND status = 'active'
   AND importance >= 0.7 AND category IN ('output_preference', 'personal_preference', 'assistant_preference')
 ORDER BY importance DESC, id;

-- documents --
-- Every live text as one record of fixed width (resident/records.py): rows of their own take ten times as long.
SELECT coalesce(string_agg(
           uuid_send(id) || int2send(tier_key) || int8send(scope_key)
           || int8send(coalesce((extract(epoch FROM holds_from) * 1000000)::bigint, -9223372036854775808))
           || int8send(coalesce((extract(epoch FROM holds_to) * 1000000)::bigint, 9223372036854775807))
           || halfvec_send(embedding), ''::bytea), ''::bytea)
  FROM entry_vectors
 WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND live
   AND model_id = (SELECT model_id FROM spaces WHERE tenant_id = %(tenant_id)s AND id = %(space_id)s);

-- postings --
SELECT coalesce(string_agg(int8send(term) || uuid_send(id) || float4send(tf) || int4send(length), ''::bytea), ''::bytea)
  FROM entry_postings
 WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND live;

-- changed --
-- The entries that were written after a given write, and those that they gave way to.
SELECT id, max(superseded_by::text)::uuid AS superseded_by
  FROM entry_versions
 WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s
   AND id IN (SELECT id FROM entry_versions
               WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND sequence > %(sequence)s)
 GROUP BY id, superseded_by;

-- changed_documents --
SELECT coalesce(string_agg(
           uuid_send(v.id) || int2send(v.tier_key) || int8send(v.scope_key)
           || int8send(coalesce((extract(epoch FROM v.holds_from) * 1000000)::bigint, -9223372036854775808))
           || int8send(coalesce((extract(epoch FROM v.holds_to) * 1000000)::bigint, 9223372036854775807))
           || halfvec_send(v.embedding), ''::bytea), ''::bytea)
  FROM (SELECT DISTINCT id FROM entry_versions
         WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND sequence > %(sequence)s) AS changed
 CROSS JOIN LATERAL (
    SELECT * FROM entry_vectors
     WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND id = changed.id AND live
       AND model_id = (SELECT model_id FROM spaces WHERE tenant_id = %(tenant_id)s AND id = %(space_id)s)
     LIMIT 1) AS v;

-- changed_postings --
-- The terms of a text stand in the version that brought it: through them its postings are found without a scan.
SELECT coalesce(string_agg(int8send(p.term) || uuid_send(p.id) || float4send(p.tf) || int4send(p.length), ''::bytea),
                ''::bytea)
  FROM (SELECT DISTINCT id FROM entry_versions
         WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND sequence > %(sequence)s) AS changed
 CROSS JOIN LATERAL (
    SELECT b.id, b.text_version, b.terms
      FROM entry_versions c
      JOIN entry_versions b
        ON b.tenant_id = %(tenant_id)s AND b.space_id = %(space_id)s AND b.id = c.id AND b.version = c.text_version
     WHERE c.tenant_id = %(tenant_id)s AND c.space_id = %(space_id)s AND c.id = changed.id
       AND c.closed_at IS NULL AND c.status = 'active'
     LIMIT 1) AS text
 CROSS JOIN LATERAL unnest(text.terms) AS t(term)
 CROSS JOIN LATERAL (
    SELECT * FROM entry_postings
     WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND term = t.term AND id = text.id
       AND text_version = text.text_version AND live
     LIMIT 1) AS p;

-- pulse --
-- The state, so that one look tells whether an index is still that of the space; and what pending proposals hold to be
-- outdated (entry, version, by which).
SELECT s.sequence, s.written_at::text, s.created_at::text, s.model_id,
       ARRAY(SELECT concat_ws(' ', p.superseded, p.superseded_version, min(p.kept::text))
               FROM supersession_proposals p
              CROSS JOIN LATERAL (
                SELECT FROM entry_versions k
                 WHERE k.tenant_id = %(tenant_id)s AND k.space_id = %(space_id)s AND k.id = p.kept
                   AND k.version = p.kept_version AND k.closed_at IS NULL AND k.status = 'active'
                 LIMIT 1) AS k
              WHERE p.tenant_id = %(tenant_id)s AND p.space_id = %(space_id)s
              GROUP BY p.superseded, p.superseded_version) AS outdated
  FROM spaces s
 WHERE s.tenant_id = %(tenant_id)s AND s.id = %(space_id)s;

-- rows --
-- Entries in full, as they are now; those that are gone are missing.
SELECT e.id, e.version, e.sequence, e.tier::text AS tier, e.text, e.scope, e.first_recorded_at AS recorded_at,
       e.last_confirmed_at, e.category, e.tags, e.claim_subject, e.claim_attribute, e.claim_value,
       e.claim_cardinality, e.importance, e.confidence, e.valid_from, e.valid_to, e.occurred_at, e.trigger,
       e.unresolved, e.outline,
       ARRAY(SELECT s.id FROM entry_versions s
              WHERE s.tenant_id = %(tenant_id)s AND s.space_id = %(space_id)s AND s.superseded_by = e.id
                AND s.closed_at IS NULL AND s.status = 'superseded' AND s.reason <> 'merged') AS superseded,
       e.session, e.author_name AS author, coalesce(u.uses, 0) AS uses
  FROM unnest(%(ids)s::uuid[]) AS wanted(id)
 CROSS JOIN LATERAL (
    SELECT * FROM entry_versions
     WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND id = wanted.id
       AND closed_at IS NULL AND status = 'active'
     LIMIT 1) AS e
  LEFT JOIN LATERAL (
    SELECT uses FROM entry_uses
     WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND id = wanted.id
     LIMIT 1) AS u ON TRUE;
