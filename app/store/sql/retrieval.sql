-- candidates --
-- All arms over one space, in one statement: what search brings up, with what each arm saw.
--
-- served: the model that serves the space, and the question as it hears it; NULL if this process has not got
--   that model, or it failed. One model serves all spaces, unless the store is just changing models.
-- dense: centred cosine similarity, ((q' . d) - (q' . m)) / |d - m| with q' the centred query, m the
--   space's centre and |d - m| stored per vector. Exact; an index-only scan of entry_vectors_live.
-- lexical: BM25 (k1 0.6, b 0.4, Lucene's idf over at least 100 documents) from the space's own
--   statistics; the forms of one word are worth 1 together.
-- Both keep candidate_limit hits a tier, then the pool of a tier is ranked by the evidence of both arms
-- (the exponent of app/scoring/relevance.py) and cut to candidate_limit. What is not visible fills only what is left.
-- preferences: independent of the query, in a stable order. pinned: whatever search says. An empty query
-- has neither arm: it brings up the most important memories and the latest of the other tiers.
--
-- Of what lies below the floor of relevance (`least_evidence`) only the ids come along, for the trace;
-- memories come in full, because they may contradict one that is above.
--
-- Looking back reads past versions too; the branches marked so never run otherwise (a one-time filter).
-- The mirrored columns are those of the current version: with known_at, what holds is left to the caller.
-- The final join is LATERAL with LIMIT 1: a plain join would hash the whole space.
WITH served AS MATERIALIZED (
    SELECT model.id AS model_id, model.mean, (%(vectors)s::vector[])[place] - model.question_shift AS question,
           (%(cosine_offsets)s::float8[])[coalesce(place, 1)] AS cosine_offset,
           (%(keyword_weights)s::float8[])[coalesce(place, 1)] AS keyword_weight,
           (%(bm25_scales)s::float8[])[coalesce(place, 1)] AS bm25_scale,
           (%(keyword_powers)s::float8[])[coalesce(place, 1)] AS keyword_power,
           (%(least_evidences)s::float8[])[coalesce(place, 1)] AS least_evidence
      FROM (SELECT model_id, array_position(%(model_ids)s::smallint[], model_id) AS place
              FROM spaces
             WHERE tenant_id = %(tenant_id)s AND id = %(space_id)s) AS space
     CROSS JOIN LATERAL (SELECT * FROM embedding_models WHERE id = space.model_id LIMIT 1) AS model
),
centre AS MATERIALIZED (
    SELECT centred.query::halfvec AS query, -(centred.query <#> m.point) AS shift
      FROM (SELECT coalesce(
                (SELECT c.centre FROM space_centres c
                  WHERE c.tenant_id = %(tenant_id)s AND c.space_id = %(space_id)s
                    AND c.model_id = (SELECT model_id FROM served)),
                (SELECT mean FROM served)) AS point) AS m
     CROSS JOIN LATERAL (SELECT l2_normalize((SELECT question FROM served) - m.point) AS query) AS centred
),
dense AS MATERIALIZED (
    SELECT hit.id, hit.text_version, t.tier, hit.visible, hit.cosine_similarity
      FROM unnest(enum_range(NULL::tier)) AS t(tier)
     CROSS JOIN LATERAL (
        SELECT v.id, v.text_version, v.visible, v.cosine_similarity
          FROM (SELECT id, text_version,
                       scope_key = ANY(%(scope_keys)s::bigint[])
                       AND CASE WHEN %(known_at)s::timestamptz IS NULL
                                THEN coalesce(holds_from <= %(as_of)s, TRUE) AND coalesce(holds_to > %(as_of)s, TRUE)
                                ELSE id <= %(known_by)s::uuid END AS visible,
                       (-(embedding <#> (SELECT query FROM centre)) - (SELECT shift FROM centre))
                           / centred_norm AS cosine_similarity
                  FROM entry_vectors
                 WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND model_id = (SELECT model_id FROM served)
                   AND tier_key = tier_key(t.tier) AND live AND (SELECT question FROM served) IS NOT NULL
                 UNION ALL
                SELECT id, text_version,
                       scope_key = ANY(%(scope_keys)s::bigint[])
                       AND CASE WHEN %(known_at)s::timestamptz IS NULL
                                THEN coalesce(holds_from <= %(as_of)s, TRUE) AND coalesce(holds_to > %(as_of)s, TRUE)
                                ELSE id <= %(known_by)s::uuid END,
                       (-(embedding <#> (SELECT query FROM centre)) - (SELECT shift FROM centre)) / centred_norm
                  FROM entry_vectors  -- looking back
                 WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND model_id = (SELECT model_id FROM served)
                   AND tier_key = tier_key(t.tier) AND NOT live AND (SELECT question FROM served) IS NOT NULL AND %(looks_back)s) AS v
         ORDER BY v.visible DESC, v.cosine_similarity DESC, v.id
         LIMIT %(candidate_limit)s) AS hit
),
statistics AS MATERIALIZED (
    SELECT tier, greatest(terms, 1)::float8 / greatest(documents, 1) AS average_length,
           greatest(sum(documents) OVER (), 100)::float8 AS documents
      FROM tier_statistics
     WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s
),
query_terms AS MATERIALIZED (
    SELECT * FROM unnest(%(terms)s::bigint[], %(term_weights)s::float8[], %(words)s::int[]) AS t(term, weight, word)
),
matches AS MATERIALIZED (
    SELECT p.id, p.text_version, p.tier, p.term, q.weight, q.word,
           p.tf * 1.6 / (p.tf + 0.36 + 0.24 * p.length / s.average_length) AS saturation,
           p.scope_key = ANY(%(scope_keys)s::bigint[])
           AND CASE WHEN %(known_at)s::timestamptz IS NULL
                    THEN coalesce(p.holds_from <= %(as_of)s, TRUE) AND coalesce(p.holds_to > %(as_of)s, TRUE)
                    ELSE p.id <= %(known_by)s::uuid END AS visible
      FROM query_terms q
      JOIN entry_postings p
        ON p.tenant_id = %(tenant_id)s AND p.space_id = %(space_id)s AND p.term = q.term
      JOIN statistics s USING (tier)
     WHERE p.live OR %(looks_back)s
),
idf AS MATERIALIZED (
    SELECT term, ln(1 + (greatest(s.documents, f.documents) - f.documents + 0.5) / (f.documents + 0.5)) AS idf
      FROM (SELECT term, count(*)::float8 AS documents FROM matches GROUP BY term) AS f
     CROSS JOIN (SELECT max(documents) AS documents FROM statistics) AS s
),
-- The most that the query could score: a word counts with its commonest form, an unknown word in full.
best_score AS MATERIALIZED (
    SELECT sum(1.6 * word_idf) AS best
      FROM (SELECT coalesce(min(i.idf), ln(1 + (max(s.documents) + 0.5) / 0.5)) AS word_idf
              FROM query_terms q
              LEFT JOIN idf i USING (term)
             CROSS JOIN (SELECT max(documents) AS documents FROM statistics) AS s
             GROUP BY q.word) AS w
),
bm25 AS MATERIALIZED (
    SELECT id, text_version, tier, bool_and(visible) AS visible, sum(word_score) AS bm25_score
      FROM (SELECT m.id, m.text_version, m.tier, bool_and(m.visible) AS visible,
                   sum(m.weight * i.idf * m.saturation) / greatest(1, sum(m.weight)) AS word_score
              FROM matches m
              JOIN idf i USING (term)
             GROUP BY m.id, m.text_version, m.tier, m.word) AS words
     GROUP BY id, text_version, tier
),
lexical AS (
    SELECT hit.id, hit.text_version, t.tier, hit.visible
      FROM unnest(enum_range(NULL::tier)) AS t(tier)
     CROSS JOIN LATERAL (
        SELECT b.id, b.text_version, b.visible
          FROM bm25 b
         WHERE b.tier = t.tier
         ORDER BY b.visible DESC, b.bm25_score DESC, b.id
         LIMIT %(candidate_limit)s) AS hit
),
pool AS (
    SELECT hits.*,
           power(greatest(coalesce(cosine_similarity, -1) + (SELECT cosine_offset FROM served), 0), 2)
           + (SELECT keyword_weight FROM served)
             * power(coalesce(bm25_score * coverage, 0) / (SELECT bm25_scale FROM served),
                     (SELECT keyword_power FROM served)) AS evidence
      FROM (SELECT ids.id, ids.text_version, ids.tier, ids.visible, d.cosine_similarity, b.bm25_score,
                   CASE WHEN b.bm25_score IS NOT NULL THEN least(1, b.bm25_score / (SELECT best FROM best_score)) END AS coverage
              FROM (SELECT id, text_version, tier, visible FROM dense
                     UNION
                    SELECT id, text_version, tier, visible FROM lexical) AS ids
              LEFT JOIN dense d ON d.id = ids.id AND d.text_version = ids.text_version
              LEFT JOIN bm25 b ON b.id = ids.id AND b.text_version = ids.text_version) AS hits
),
ranked AS (
    SELECT pool.*, row_number() OVER (PARTITION BY tier ORDER BY visible DESC, evidence DESC, id) AS place
      FROM pool
),
chosen AS MATERIALIZED (
    SELECT id, text_version, tier, cosine_similarity, bm25_score, coverage, FALSE AS is_preference,
           evidence < (SELECT least_evidence FROM served) AND visible AND tier <> 'memories' AND cosine_similarity IS NOT NULL
               AS below_floor
      FROM ranked
     WHERE place <= %(candidate_limit)s
     UNION ALL
    (SELECT id, text_version, tier, NULL, NULL, NULL, TRUE, FALSE
       FROM entry_versions
      WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND closed_at IS NULL AND status = 'active'
        AND importance >= 0.7
        AND category IN ('output_preference', 'personal_preference', 'assistant_preference')
        AND scope = ANY(%(scopes)s::text[]) AND NOT %(looks_back)s
      ORDER BY importance DESC, id
      LIMIT %(preference_limit)s)
     UNION ALL
    (SELECT id, text_version, tier, NULL, NULL, NULL, TRUE, FALSE
       FROM entry_versions  -- looking back
      WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND importance >= 0.7
        AND category IN ('output_preference', 'personal_preference', 'assistant_preference')
        AND scope = ANY(%(scopes)s::text[]) AND status IN ('active', 'superseded')
        AND recorded_at <= coalesce(%(known_at)s, 'infinity'::timestamptz)
        AND coalesce(closed_at > coalesce(%(known_at)s, 'infinity'::timestamptz), TRUE)
        AND %(looks_back)s
      ORDER BY importance DESC, id
      LIMIT %(preference_limit)s)
     UNION ALL
    SELECT id, max(text_version), max(tier), NULL, NULL, NULL, FALSE, FALSE
      FROM entry_versions
     WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND id = ANY(%(pinned)s::uuid[])
     GROUP BY id
     UNION ALL
    SELECT hit.id, hit.text_version, t.tier, NULL, NULL, NULL, FALSE, FALSE
      FROM unnest(enum_range(NULL::tier)) AS t(tier)
     CROSS JOIN LATERAL (
        SELECT id, text_version
          FROM entry_versions  -- without a question: what matters most, what came last
         WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND tier = t.tier AND NOT %(asks)s
           AND scope = ANY(%(scopes)s::text[])
           AND CASE WHEN %(looks_back)s
                    THEN status IN ('active', 'superseded')
                         AND recorded_at <= coalesce(%(known_at)s, 'infinity'::timestamptz)
                         AND coalesce(closed_at > coalesce(%(known_at)s, 'infinity'::timestamptz), TRUE)
                    ELSE status = 'active' AND closed_at IS NULL END
         ORDER BY CASE WHEN tier = 'memories' THEN coalesce(importance, 0.5) END DESC,
                  coalesce(occurred_at, last_confirmed_at) DESC, id DESC
         LIMIT %(candidate_limit)s) AS hit
),
-- What pending proposals hold to be outdated: few, consolidation applies them within minutes.
outdated AS MATERIALIZED (
    SELECT p.superseded AS id, p.superseded_version AS version, min(p.kept::text)::uuid AS outdated_by
      FROM supersession_proposals p
     CROSS JOIN LATERAL (
        SELECT FROM entry_versions k
         WHERE k.tenant_id = %(tenant_id)s AND k.space_id = %(space_id)s AND k.id = p.kept
           AND k.version = p.kept_version AND k.closed_at IS NULL AND k.status = 'active'
         LIMIT 1) AS k
     WHERE p.tenant_id = %(tenant_id)s AND p.space_id = %(space_id)s AND NOT %(looks_back)s
     GROUP BY p.superseded, p.superseded_version
)
SELECT c.id, e.version, e.sequence, c.tier::text AS tier, e.text, e.scope, e.first_recorded_at AS recorded_at,
       e.last_confirmed_at, e.category, e.tags, e.claim_subject, e.claim_attribute, e.claim_value,
       e.claim_cardinality, e.importance, e.confidence, e.valid_from, e.valid_to, e.occurred_at, e.trigger,
       e.unresolved, e.outline,
       ARRAY(SELECT s.id FROM entry_versions s
              WHERE s.tenant_id = %(tenant_id)s AND s.space_id = %(space_id)s AND s.superseded_by = e.id
                AND s.closed_at IS NULL AND s.status = 'superseded' AND s.reason <> 'merged') AS superseded,
       e.session, e.author_name AS author, coalesce(u.uses, 0) AS uses,
       coalesce(c.cosine_similarity, v.cosine_similarity) AS cosine_similarity, c.bm25_score, c.coverage,
       c.is_preference, v.vector, o.outdated_by, c.below_floor
  FROM chosen c
  LEFT JOIN LATERAL (
    SELECT * FROM entry_versions x
     WHERE NOT c.below_floor AND x.tenant_id = %(tenant_id)s AND x.space_id = %(space_id)s AND x.id = c.id
       AND x.text_version = c.text_version
       AND CASE WHEN %(looks_back)s
                THEN x.recorded_at <= coalesce(%(known_at)s, 'infinity'::timestamptz)
                     AND coalesce(x.closed_at > coalesce(%(known_at)s, 'infinity'::timestamptz), TRUE)
                     AND x.status IN ('active', 'superseded')
                     AND NOT EXISTS (SELECT FROM entry_versions r
                                      WHERE r.tenant_id = %(tenant_id)s AND r.space_id = %(space_id)s AND r.id = c.id
                                        AND r.closed_at IS NULL AND r.status = 'retracted')
                ELSE x.closed_at IS NULL AND x.status = 'active' END
     ORDER BY x.version DESC
     LIMIT 1) AS e ON TRUE
  LEFT JOIN LATERAL (
    SELECT (-(y.embedding <#> (SELECT query FROM centre)) - (SELECT shift FROM centre)) / y.centred_norm
               AS cosine_similarity,
           CASE WHEN y.tier = 'memories' THEN y.embedding END AS vector
      FROM entry_vectors y
     WHERE y.tenant_id = %(tenant_id)s AND y.space_id = %(space_id)s AND y.model_id = (SELECT model_id FROM served)
       AND y.id = c.id AND y.text_version = c.text_version
       AND (e.tier = 'memories' OR c.cosine_similarity IS NULL)
     LIMIT 1) AS v ON TRUE
  LEFT JOIN LATERAL (
    SELECT w.uses FROM entry_uses w
     WHERE w.tenant_id = %(tenant_id)s AND w.space_id = %(space_id)s AND w.id = e.id
     LIMIT 1) AS u ON TRUE
  LEFT JOIN outdated o ON o.id = e.id AND o.version = e.version
 WHERE e.id IS NOT NULL OR c.below_floor;

-- models_of --
-- The model that serves each of some spaces.
SELECT id, model_id FROM spaces WHERE tenant_id = %(tenant_id)s AND id = ANY(%(space_ids)s::uuid[]);

-- soul_blocks --
-- The active blocks of a persona, in the order in which they are rendered.
SELECT id, version, name, text, position, active, recorded_at, reason
  FROM soul_blocks
 WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND closed_at IS NULL AND active
 ORDER BY position, name, id;
