-- advance_space --
UPDATE spaces SET sequence = %(sequence)s WHERE tenant_id = %(tenant_id)s AND id = %(space_id)s;

-- current_entry --
SELECT e.*, s.name AS space
  FROM entry_versions e
  JOIN spaces s ON s.tenant_id = e.tenant_id AND s.id = e.space_id
 WHERE e.tenant_id = %(tenant_id)s AND e.space_id = %(space_id)s AND e.id = %(id)s AND e.closed_at IS NULL;

-- current_entries --
-- The current versions of given entries; those that are gone are missing.
SELECT e.*, s.name AS space
  FROM unnest(%(ids)s::uuid[]) AS wanted(id)
 CROSS JOIN LATERAL (
    SELECT * FROM entry_versions
     WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND id = wanted.id AND closed_at IS NULL
     LIMIT 1) AS e
  JOIN spaces s ON s.tenant_id = e.tenant_id AND s.id = e.space_id;

-- merged_into --
-- The entries that said the same as a given one and gave way to it.
SELECT e.*, s.name AS space
  FROM entry_versions e
  JOIN spaces s ON s.tenant_id = e.tenant_id AND s.id = e.space_id
 WHERE e.tenant_id = %(tenant_id)s AND e.space_id = %(space_id)s AND e.superseded_by = %(id)s
   AND e.closed_at IS NULL AND e.reason = 'merged'
 ORDER BY e.id;

-- entry_history --
-- Versions, newest first.
SELECT e.*, s.name AS space
  FROM entry_versions e
  JOIN spaces s ON s.tenant_id = e.tenant_id AND s.id = e.space_id
 WHERE e.tenant_id = %(tenant_id)s AND e.space_id = %(space_id)s AND e.id = %(id)s
   AND (%(before)s::int IS NULL OR e.version < %(before)s::int)
 ORDER BY e.version DESC
 LIMIT %(limit)s::int;

-- entry_versions --
-- Given versions of given entries, in no order.
SELECT e.*, s.name AS space
  FROM unnest(%(ids)s::uuid[], %(versions)s::int[]) AS wanted(id, version)
  JOIN entry_versions e
    ON e.tenant_id = %(tenant_id)s AND e.space_id = %(space_id)s AND e.id = wanted.id AND e.version = wanted.version
  JOIN spaces s ON s.tenant_id = e.tenant_id AND s.id = e.space_id;

-- list_entries --
-- Current versions, newest first.
SELECT e.*, s.name AS space
  FROM entry_versions e
  JOIN spaces s ON s.tenant_id = e.tenant_id AND s.id = e.space_id
 WHERE e.tenant_id = %(tenant_id)s AND e.space_id = %(space_id)s AND e.tier_key = tier_key(%(tier)s::tier)
   AND e.closed_at IS NULL
   AND (%(before)s::uuid IS NULL OR e.id < %(before)s::uuid)
   AND (%(statuses)s::text[] IS NULL OR e.status = ANY(%(statuses)s::text[]))
   AND (%(category)s::text IS NULL OR e.category = %(category)s::text)
   AND (%(tag)s::text IS NULL OR %(tag)s::text = ANY(e.tags))
   AND (%(scope)s::text IS NULL OR e.scope = %(scope)s::text)
   AND (%(unresolved)s::boolean IS NULL OR e.unresolved = %(unresolved)s::boolean)
 ORDER BY e.id DESC
 LIMIT %(limit)s;

-- same_texts --
-- Current active memories by the number of their normalised text.
SELECT e.*, s.name AS space
  FROM entry_versions e
  JOIN spaces s ON s.tenant_id = e.tenant_id AND s.id = e.space_id
 WHERE e.tenant_id = %(tenant_id)s AND e.space_id = %(space_id)s AND e.normal = ANY(%(normals)s::bigint[])
   AND e.normal IS NOT NULL AND e.closed_at IS NULL AND e.status = 'active';

-- claimants --
-- Current active entries with one of the given claim keys.
SELECT e.*, s.name AS space
  FROM unnest(%(subjects)s::text[], %(attributes)s::text[]) AS wanted(subject, attribute)
  JOIN claims c
    ON c.tenant_id = %(tenant_id)s AND c.space_id = %(space_id)s AND c.subject = wanted.subject
   AND c.attribute = wanted.attribute
  JOIN entry_versions e
    ON e.tenant_id = c.tenant_id AND e.space_id = c.space_id AND e.id = c.id AND e.closed_at IS NULL
  JOIN spaces s ON s.tenant_id = e.tenant_id AND s.id = e.space_id
 WHERE e.status = 'active';

-- close_version --
UPDATE entry_versions SET closed_at = %(recorded_at)s
 WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND id = %(id)s AND version = %(version)s - 1
   AND closed_at IS NULL;

-- insert_version --
INSERT INTO entry_versions (
    tenant_id, space_id, id, version, text_version, sequence, tier, status, text, category, tags, scope,
    claim_subject, claim_attribute, claim_value, claim_cardinality, claim_derived, importance, confidence,
    valid_from, valid_to, occurred_at, participants, trigger, author_name, author_platform, author_id, session,
    context, source, recorded_at, first_recorded_at, last_confirmed_at, unresolved, superseded_by, merged_from, reason,
    corrected, terms, term_count, outline, normal)
VALUES (
    %(tenant_id)s, %(space_id)s, %(id)s, %(version)s, %(text_version)s, %(sequence)s, %(tier)s::tier, %(status)s,
    %(text)s, %(category)s, %(tags)s, %(scope)s, %(claim_subject)s, %(claim_attribute)s, %(claim_value)s,
    %(claim_cardinality)s, %(claim_derived)s, %(importance)s, %(confidence)s, %(valid_from)s, %(valid_to)s,
    %(occurred_at)s, %(participants)s, %(trigger)s, %(author_name)s, %(author_platform)s, %(author_id)s, %(session)s,
    %(context)s, %(source)s, %(recorded_at)s, %(first_recorded_at)s, %(last_confirmed_at)s, %(unresolved)s,
    %(superseded_by)s, %(merged_from)s::uuid[], %(reason)s, %(corrected)s, %(terms)s, %(term_count)s, %(outline)s,
    %(normal)s);

-- insert_vector --
INSERT INTO entry_vectors (
    tenant_id, space_id, model_id, id, text_version, tier, live, scope_key, holds_from, holds_to, centred_norm, embedding)
VALUES (
    %(tenant_id)s, %(space_id)s, %(model_id)s, %(id)s, %(text_version)s, %(tier)s::tier, %(live)s, %(scope_key)s,
    %(holds_from)s, %(holds_to)s, %(centred_norm)s, %(embedding)s);

-- insert_postings --
INSERT INTO entry_postings (
    tenant_id, space_id, term, id, text_version, tier, live, scope_key, holds_from, holds_to, tf, length)
SELECT %(tenant_id)s, %(space_id)s, t.term, %(id)s, %(text_version)s, %(tier)s::tier, %(live)s, %(scope_key)s,
       %(holds_from)s, %(holds_to)s, t.tf, %(length)s
  FROM unnest(%(terms)s::bigint[], %(tfs)s::real[]) AS t(term, tf);

-- mirror_vector --
-- Carry what the arms filter by from the current version to its vector; untouched where nothing changed.
UPDATE entry_vectors
   SET live = %(live)s, scope_key = %(scope_key)s, holds_from = %(holds_from)s, holds_to = %(holds_to)s
 WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND id = %(id)s AND text_version = %(text_version)s
   AND (live, scope_key, holds_from, holds_to)
       IS DISTINCT FROM (%(live)s, %(scope_key)s, %(holds_from)s::timestamptz, %(holds_to)s::timestamptz);

-- mirror_postings --
UPDATE entry_postings
   SET live = %(live)s, scope_key = %(scope_key)s, holds_from = %(holds_from)s, holds_to = %(holds_to)s
 WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND term = ANY(%(terms)s::bigint[])
   AND id = %(id)s AND text_version = %(text_version)s
   AND (live, scope_key, holds_from, holds_to)
       IS DISTINCT FROM (%(live)s, %(scope_key)s, %(holds_from)s::timestamptz, %(holds_to)s::timestamptz);

-- retire_vector --
-- A text that was replaced: kept for looking back at what was known, out of the arms otherwise.
UPDATE entry_vectors SET live = FALSE, holds_to = %(never)s
 WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND id = %(id)s AND text_version < %(text_version)s
   AND holds_to IS DISTINCT FROM %(never)s;

-- retire_postings --
UPDATE entry_postings SET live = FALSE, holds_to = %(never)s
 WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND term = ANY(%(terms)s::bigint[])
   AND id = %(id)s AND text_version < %(text_version)s AND holds_to IS DISTINCT FROM %(never)s;

-- indexed_texts --
-- Every text that the entries were indexed under: its terms (so that its postings are found without a
-- scan), its length in words, and whether it is served now.
SELECT e.id, e.text_version, e.terms, e.term_count,
       EXISTS (SELECT FROM entry_versions c
                WHERE c.tenant_id = e.tenant_id AND c.space_id = e.space_id AND c.id = e.id
                  AND c.closed_at IS NULL AND c.status = 'active' AND c.text_version = e.text_version) AS live
  FROM entry_versions e
 WHERE e.tenant_id = %(tenant_id)s AND e.space_id = %(space_id)s AND e.id = ANY(%(ids)s::uuid[])
   AND e.version = e.text_version;

-- drop_claim --
-- Take an entry's claim away; another entry that restates it takes its place.
WITH gone AS (
    DELETE FROM claims WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND id = %(id)s RETURNING *)
UPDATE claims c SET restated = FALSE
  FROM gone
 WHERE NOT gone.restated AND NOT gone.unresolved
   AND c.tenant_id = %(tenant_id)s AND c.space_id = %(space_id)s AND c.subject = gone.subject
   AND c.attribute = gone.attribute AND c.scope = gone.scope AND c.restated
   AND c.id = (SELECT min(o.id::text)::uuid FROM claims o
                WHERE o.tenant_id = %(tenant_id)s AND o.space_id = %(space_id)s AND o.subject = gone.subject
                  AND o.attribute = gone.attribute AND o.scope = gone.scope AND o.restated AND o.id <> gone.id);

-- insert_claim --
INSERT INTO claims (
    tenant_id, space_id, id, scope, subject, attribute, value, cardinality, unresolved, restated)
SELECT %(tenant_id)s, %(space_id)s, %(id)s, %(scope)s, %(subject)s, %(attribute)s, %(value)s, %(cardinality)s,
       %(unresolved)s,
       EXISTS (SELECT FROM claims c
                WHERE c.tenant_id = %(tenant_id)s AND c.space_id = %(space_id)s AND c.subject = %(subject)s
                  AND c.attribute = %(attribute)s AND c.scope = %(scope)s AND NOT c.unresolved AND NOT c.restated);

-- count_documents --
INSERT INTO tier_statistics (tenant_id, space_id, tier, documents, terms)
VALUES (%(tenant_id)s, %(space_id)s, %(tier)s::tier, %(documents)s, %(terms)s)
    ON CONFLICT (tenant_id, space_id, tier) DO UPDATE
   SET documents = tier_statistics.documents + excluded.documents, terms = tier_statistics.terms + excluded.terms;

-- space_documents --
SELECT coalesce(sum(documents), 0)::bigint AS documents FROM tier_statistics
 WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s;

-- centre --
-- The centre of the space, and of how many entries; the model's mean while the space has none of its own.
SELECT c.entries_count, coalesce(c.centre, m.mean) AS centre
  FROM embedding_models m
  LEFT JOIN space_centres c ON c.tenant_id = %(tenant_id)s AND c.space_id = %(space_id)s AND c.model_id = m.id
 WHERE m.id = %(model_id)s;

-- store_centre --
-- The centre follows the mean of the live vectors, drawn towards the model's mean while they are few
-- (share n / (2n + 20), docs/decisions/002-centring.md).
WITH live AS (
    SELECT avg(embedding::vector) AS mean, count(*) AS n
      FROM entry_vectors
     WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND model_id = %(model_id)s AND live
)
INSERT INTO space_centres (tenant_id, space_id, model_id, version, entries_count, centre)
SELECT %(tenant_id)s, %(space_id)s, m.id, 1, n,
       live.mean * array_fill(n / (2.0 * n + 20), ARRAY[m.dimensions])::vector
       + m.mean * array_fill(1 - n / (2.0 * n + 20), ARRAY[m.dimensions])::vector
  FROM live
  JOIN embedding_models m ON m.id = %(model_id)s
 WHERE n > 0
    ON CONFLICT (tenant_id, space_id, model_id) DO UPDATE
   SET version = space_centres.version + 1, entries_count = excluded.entries_count, centre = excluded.centre;

-- follow_centre --
-- Every vector's norm follows the centre.
UPDATE entry_vectors v
   SET centred_norm = greatest(v.embedding::vector <-> c.centre, 0.05)
  FROM space_centres c
 WHERE v.tenant_id = %(tenant_id)s AND v.space_id = %(space_id)s AND v.model_id = %(model_id)s
   AND c.tenant_id = %(tenant_id)s AND c.space_id = %(space_id)s AND c.model_id = %(model_id)s;

-- count_outcome --
INSERT INTO procedure_outcomes (tenant_id, space_id, id, successes, failures)
VALUES (%(tenant_id)s, %(space_id)s, %(id)s, %(successes)s, %(failures)s)
    ON CONFLICT (tenant_id, space_id, id) DO UPDATE
   SET successes = procedure_outcomes.successes + excluded.successes,
       failures = procedure_outcomes.failures + excluded.failures
RETURNING successes, failures;

-- outcomes --
SELECT id, successes, failures FROM procedure_outcomes
 WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND id = ANY(%(ids)s::uuid[]);

-- erase_versions --
DELETE FROM entry_versions WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND id = ANY(%(ids)s::uuid[]);

-- forget_winner --
-- Those that gave way to erased entries stay superseded, and no longer say by what.
UPDATE entry_versions SET superseded_by = NULL
 WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND superseded_by = ANY(%(ids)s::uuid[]);

-- forget_merged --
-- Those that they were merged into, and those that these were, no longer name erased entries.
WITH RECURSIVE kept(id) AS (
    SELECT superseded_by FROM entry_versions
     WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND id = ANY(%(ids)s::uuid[])
       AND superseded_by IS NOT NULL
     UNION
    SELECT e.superseded_by
      FROM kept
      JOIN entry_versions e ON e.tenant_id = %(tenant_id)s AND e.space_id = %(space_id)s AND e.id = kept.id
     WHERE e.superseded_by IS NOT NULL)
UPDATE entry_versions
   SET merged_from = ARRAY(SELECT one FROM unnest(merged_from) AS one WHERE one <> ALL(%(ids)s::uuid[]))
 WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND id IN (SELECT id FROM kept)
   AND merged_from && %(ids)s::uuid[];

-- carry_uses --
-- What was merged was used too.
INSERT INTO entry_uses (tenant_id, space_id, id, uses, last_session)
SELECT %(tenant_id)s, %(space_id)s, %(id)s, sum(uses), max(last_session) FROM entry_uses
 WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND id = ANY(%(merged)s::uuid[])
HAVING count(*) > 0
    ON CONFLICT (tenant_id, space_id, id) DO UPDATE SET uses = entry_uses.uses + excluded.uses;

-- erase_vectors --
DELETE FROM entry_vectors WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND id = ANY(%(ids)s::uuid[]);

-- erase_postings --
DELETE FROM entry_postings
 WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND id = ANY(%(ids)s::uuid[]) AND term = ANY(%(terms)s::bigint[]);

-- erase_uses --
DELETE FROM entry_uses WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND id = ANY(%(ids)s::uuid[]);

-- erase_outcomes --
DELETE FROM procedure_outcomes WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND id = ANY(%(ids)s::uuid[]);

-- erase_proposals --
DELETE FROM supersession_proposals
 WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND (kept = ANY(%(ids)s::uuid[]) OR superseded = ANY(%(ids)s::uuid[]));

-- texts --
-- Every text that some entries ever had.
SELECT DISTINCT text FROM entry_versions
 WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND id = ANY(%(ids)s::uuid[]);

-- erase_corrections --
-- What was told of the entries, and what was asked about them; likewise whatever quotes their texts.
DELETE FROM corrections
 WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s
   AND (entries && %(ids)s::uuid[]
        OR EXISTS (SELECT FROM unnest(%(texts)s::text[]) AS t(text)
                    WHERE strpos(lower(concat_ws(' ', told, asked ->> 'said', asked ->> 'wrong', asked ->> 'text')), t.text) > 0));

-- erase_assemblies --
-- Logged requests hold what was asked: a query or a batch, and the history of the conversation.
DELETE FROM assemblies a
 WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s
   AND EXISTS (SELECT FROM lower(asked_in(a.request)) AS said
                CROSS JOIN unnest(%(texts)s::text[]) AS t(text)
                WHERE strpos(said, t.text) > 0);

-- take_proposals --
-- The pending proposals of the space, oldest first; they are gone afterwards.
WITH taken AS (
    DELETE FROM supersession_proposals WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s RETURNING *)
SELECT kept, kept_version, superseded, superseded_version FROM taken
 ORDER BY proposed_at, kept, superseded;
