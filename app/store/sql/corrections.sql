-- saying --
-- The active memories that have every word of a text in some form, newest first.
SELECT e.*, s.name AS space
  FROM (SELECT p.id
          FROM unnest(%(terms)s::bigint[], %(words)s::int[]) AS q(term, word)
          JOIN entry_postings p
            ON p.tenant_id = %(tenant_id)s AND p.space_id = %(space_id)s AND p.term = q.term
         WHERE p.live
         GROUP BY p.id
        HAVING count(DISTINCT q.word) = %(words_count)s
         ORDER BY p.id DESC
         LIMIT 200) AS found
  JOIN entry_versions e
    ON e.tenant_id = %(tenant_id)s AND e.space_id = %(space_id)s AND e.id = found.id AND e.closed_at IS NULL
  JOIN spaces s ON s.tenant_id = e.tenant_id AND s.id = e.space_id
 WHERE e.tier_key = tier_key('memories'::tier) AND e.status = 'active'
 ORDER BY e.id DESC;

-- last_applied --
SELECT e.*, s.name AS space
  FROM (SELECT after FROM corrections
         WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND outcome = 'applied'
           AND scope = ANY(%(scopes)s::text[])
         ORDER BY id DESC
         LIMIT 1) AS c
  JOIN entry_versions e
    ON e.tenant_id = %(tenant_id)s AND e.space_id = %(space_id)s AND e.id = (c.after -> 0 ->> 0)::uuid
   AND e.closed_at IS NULL AND e.status = 'active'
  JOIN spaces s ON s.tenant_id = e.tenant_id AND s.id = e.space_id;

-- insert_correction --
INSERT INTO corrections (
    tenant_id, space_id, id, created_at, outcome, scope, told, entries, before, after, asked, options, turn, turn_space,
    message, version, key, said_at, receipt)
VALUES (
    %(tenant_id)s, %(space_id)s, %(id)s, %(created_at)s, %(outcome)s, %(scope)s, %(told)s, %(entries)s, %(before)s::jsonb,
    %(after)s::jsonb, %(asked)s::jsonb, %(options)s::jsonb, %(turn)s, %(turn_space)s, %(message)s, %(version)s, %(key)s,
    %(said_at)s, %(receipt)s);

-- said_in --
-- Where in a turn something was wanted of which a correction tells.
SELECT turn, turn_space, message, version, key, said_at FROM corrections
 WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND turn = %(turn)s;

-- follow --
UPDATE corrections SET version = %(version)s
 WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND turn = %(turn)s AND message = %(message)s
   AND key = %(key)s;

-- drop_said --
-- What was forgotten is told of for good: it has no words of what was said.
DELETE FROM corrections
 WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND turn = %(turn)s AND message = %(message)s
   AND key = %(key)s AND receipt IS NULL;

-- of_turn --
SELECT c.*, s.name AS space
  FROM corrections c
  JOIN spaces s ON s.tenant_id = c.tenant_id AND s.id = c.space_id
 WHERE c.tenant_id = %(tenant_id)s AND c.space_id = %(space_id)s AND c.turn = %(turn)s
 ORDER BY c.id;

-- questions_of --
SELECT c.*, s.name AS space
  FROM corrections c
  JOIN spaces s ON s.tenant_id = c.tenant_id AND s.id = c.space_id
 WHERE c.tenant_id = %(tenant_id)s AND c.space_id = %(space_id)s AND c.turn = %(turn)s AND c.asked IS NOT NULL
 ORDER BY c.id;

-- answer --
-- What was asked is gone; the next prompt need not ask any more. The question goes with the entries of the answer.
UPDATE corrections q
   SET asked = NULL, answered_by = a.id, entries = q.entries || a.entries, shown_at = coalesce(q.shown_at, now())
  FROM corrections a
 WHERE q.tenant_id = %(tenant_id)s AND q.space_id = %(space_id)s AND q.id = %(id)s
   AND a.tenant_id = %(tenant_id)s AND a.space_id = %(space_id)s AND a.id = %(answered_by)s;

-- find_correction --
SELECT c.*, s.name AS space
  FROM corrections c
  JOIN spaces s ON s.tenant_id = c.tenant_id AND s.id = c.space_id
 WHERE c.tenant_id = %(tenant_id)s AND c.space_id = %(space_id)s AND c.id = %(id)s;

-- list_corrections --
SELECT c.*, s.name AS space
  FROM corrections c
  JOIN spaces s ON s.tenant_id = c.tenant_id AND s.id = c.space_id
 WHERE c.tenant_id = %(tenant_id)s AND c.space_id = %(space_id)s
   AND (%(before)s::uuid IS NULL OR c.id < %(before)s::uuid)
   AND (NOT %(open_only)s OR c.asked IS NOT NULL)
 ORDER BY c.id DESC
 LIMIT %(limit)s;

-- versions --
SELECT e.*, s.name AS space
  FROM unnest(%(ids)s::uuid[], %(versions)s::int[]) AS wanted(id, version)
  JOIN entry_versions e
    ON e.tenant_id = %(tenant_id)s AND e.space_id = %(space_id)s AND e.id = wanted.id AND e.version = wanted.version
  JOIN spaces s ON s.tenant_id = e.tenant_id AND s.id = e.space_id;

-- untold --
-- What the next prompt tells of corrections: confirmations and questions of the last day.
SELECT id, told
  FROM corrections
 WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND shown_at IS NULL AND NOT %(looks_back)s
   AND scope = ANY(%(scopes)s::text[]) AND created_at > now() - interval '1 day'
 ORDER BY id
 LIMIT 3;

-- shown --
UPDATE corrections SET shown_at = %(shown_at)s
 WHERE tenant_id = %(tenant_id)s AND space_id = ANY(%(space_ids)s::uuid[]) AND id = ANY(%(ids)s::uuid[])
   AND shown_at IS NULL;

-- told --
-- What logged assemblies told, for replaying them.
SELECT space_id, id, told
  FROM corrections
 WHERE tenant_id = %(tenant_id)s AND space_id = ANY(%(space_ids)s::uuid[]) AND id = ANY(%(ids)s::uuid[]);

-- viewed --
-- The memories of a space as their owner sees them, newest first, with what replaced each.
SELECT e.*, s.name AS space
  FROM entry_versions e
  JOIN spaces s ON s.tenant_id = e.tenant_id AND s.id = e.space_id
 WHERE e.tenant_id = %(tenant_id)s AND e.space_id = %(space_id)s AND e.tier_key = tier_key('memories'::tier)
   AND e.closed_at IS NULL AND e.status <> 'retracted'
   AND (%(before)s::uuid IS NULL OR e.id < %(before)s::uuid)
   AND (%(standing)s::text IS NULL
        OR %(standing)s::text = CASE WHEN e.status <> 'active' THEN 'obsolete'
                                     WHEN e.unresolved THEN 'unresolved' ELSE 'current' END)
 ORDER BY e.id DESC
 LIMIT %(limit)s;

-- current --
SELECT e.*, s.name AS space
  FROM entry_versions e
  JOIN spaces s ON s.tenant_id = e.tenant_id AND s.id = e.space_id
 WHERE e.tenant_id = %(tenant_id)s AND e.space_id = %(space_id)s AND e.id = ANY(%(ids)s::uuid[]) AND e.closed_at IS NULL;
