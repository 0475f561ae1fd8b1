-- search --
-- The entries of one space that pass the filters, best first, with what each arm saw of the query.
--
-- The filters come before the cut, so that a narrow filter finds all there is. The arms are those of
-- retrieval.sql: centred cosine similarity, and BM25 with the statistics of the whole space, so that a
-- relevance means the same with filters and without. Without a query the newest come first.
-- The arms meet in a GROUP BY: the planner cannot know how large they are, and would join them row by row.
--
-- Looking back reads past versions too; the branch marked so never runs otherwise (a one-time filter).
WITH eligible AS MATERIALIZED (
    SELECT id, version, text_version, happened_at
      FROM (SELECT e.id, e.version, e.text_version, e.tier, e.scope, e.category, e.tags, e.valid_to,
                   NULL AS holds_from, coalesce(e.occurred_at, e.valid_from, e.first_recorded_at) AS happened_at
              FROM entry_versions e
             WHERE e.tenant_id = %(tenant_id)s AND e.space_id = %(space_id)s AND e.tier = ANY(%(tiers)s::tier[])
               AND e.closed_at IS NULL AND e.status = 'active' AND NOT %(looks_back)s
             UNION ALL
            SELECT e.id, e.version, e.text_version, e.tier, e.scope, e.category, e.tags, e.valid_to,
                   coalesce(e.occurred_at, e.valid_from), coalesce(e.occurred_at, e.valid_from, e.first_recorded_at)
              FROM entry_versions e  -- looking back
             WHERE e.tenant_id = %(tenant_id)s AND e.space_id = %(space_id)s AND e.tier = ANY(%(tiers)s::tier[])
               AND (%(known_at)s::timestamptz IS NULL OR e.recorded_at <= %(known_at)s)
               AND (e.closed_at IS NULL OR e.closed_at > %(known_at)s)
               AND e.status IN ('active', 'superseded') AND %(looks_back)s) AS e
     WHERE scope = ANY(%(scopes)s::text[])
       AND coalesce(holds_from <= %(as_of)s, TRUE) AND coalesce(valid_to > %(as_of)s, TRUE)
       AND (%(category)s::text IS NULL OR category = %(category)s)
       AND (%(tags)s::text[] IS NULL OR tags && %(tags)s::text[])
       AND (%(since)s::timestamptz IS NULL OR happened_at >= %(since)s)
       AND (%(until)s::timestamptz IS NULL OR happened_at < %(until)s)
),
served AS MATERIALIZED (
    SELECT model.id AS model_id, model.mean, (%(vectors)s::vector[])[place] - model.question_shift AS question,
           (%(cosine_offsets)s::float8[])[coalesce(place, 1)] AS cosine_offset,
           (%(keyword_weights)s::float8[])[coalesce(place, 1)] AS keyword_weight,
           (%(bm25_scales)s::float8[])[coalesce(place, 1)] AS bm25_scale,
           (%(keyword_powers)s::float8[])[coalesce(place, 1)] AS keyword_power
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
    SELECT p.id, p.text_version, p.term, q.weight, q.word,
           p.tf * 1.6 / (p.tf + 0.36 + 0.24 * p.length / s.average_length) AS saturation
      FROM query_terms q
      JOIN entry_postings p
        ON p.tenant_id = %(tenant_id)s AND p.space_id = %(space_id)s AND p.term = q.term
      JOIN statistics s USING (tier)
     WHERE p.live OR %(looks_back)s
),
idf AS MATERIALIZED (
    SELECT term, ln(1 + (greatest(s.documents, count(*)) - count(*) + 0.5) / (count(*) + 0.5)) AS idf
      FROM matches CROSS JOIN (SELECT max(documents) AS documents FROM statistics) AS s
     GROUP BY term, s.documents
),
best_score AS MATERIALIZED (
    SELECT sum(1.6 * word_idf) AS best
      FROM (SELECT coalesce(min(i.idf), ln(1 + (max(s.documents) + 0.5) / 0.5)) AS word_idf
              FROM query_terms q
              LEFT JOIN idf i USING (term)
             CROSS JOIN (SELECT max(documents) AS documents FROM statistics) AS s
             GROUP BY q.word) AS w
),
bm25 AS (
    SELECT id, text_version, sum(word_score) AS bm25_score
      FROM (SELECT m.id, m.text_version, sum(m.weight * i.idf * m.saturation) / greatest(1, sum(m.weight)) AS word_score
              FROM matches m
              JOIN idf i USING (term)
             GROUP BY m.id, m.text_version, m.word) AS words
     GROUP BY id, text_version
),
seen AS (
    SELECT e.id, e.text_version, e.version, e.happened_at, v.cosine_similarity, NULL::float8 AS bm25_score
      FROM eligible e
      LEFT JOIN LATERAL (
        SELECT (-(y.embedding <#> (SELECT query FROM centre)) - (SELECT shift FROM centre)) / y.centred_norm
                   AS cosine_similarity
          FROM entry_vectors y
         WHERE y.tenant_id = %(tenant_id)s AND y.space_id = %(space_id)s AND y.model_id = (SELECT model_id FROM served)
           AND y.id = e.id AND y.text_version = e.text_version
         LIMIT 1) AS v ON (SELECT question FROM served) IS NOT NULL
     UNION ALL
    SELECT id, text_version, NULL, NULL, NULL, bm25_score FROM bm25
),
hits AS (
    SELECT id, max(version) AS version, max(happened_at) AS happened_at, max(cosine_similarity) AS cosine_similarity,
           max(bm25_score) AS bm25_score, least(1, max(bm25_score) / (SELECT best FROM best_score)) AS coverage
      FROM seen
     GROUP BY id, text_version
    HAVING max(version) IS NOT NULL  -- eligible
       AND (NOT %(asks)s OR max(cosine_similarity) IS NOT NULL OR max(bm25_score) IS NOT NULL)
),
best AS MATERIALIZED (
    SELECT id, version, cosine_similarity, bm25_score, coverage
      FROM hits
     ORDER BY power(greatest(coalesce(cosine_similarity, -1) + (SELECT cosine_offset FROM served), 0), 2)
              + (SELECT keyword_weight FROM served)
                * power(coalesce(bm25_score * coverage, 0) / (SELECT bm25_scale FROM served), (SELECT keyword_power FROM served)) DESC,
              CASE WHEN %(asks)s THEN NULL ELSE happened_at END DESC, CASE WHEN %(asks)s THEN id END, id DESC
     LIMIT %(limit)s
)
SELECT e.*, s.name AS space, s.model_id, b.cosine_similarity, b.bm25_score, b.coverage
  FROM best b
 CROSS JOIN LATERAL (
    SELECT * FROM entry_versions x
     WHERE x.tenant_id = %(tenant_id)s AND x.space_id = %(space_id)s AND x.id = b.id AND x.version = b.version
     LIMIT 1) AS e
  JOIN spaces s ON s.tenant_id = e.tenant_id AND s.id = e.space_id;
