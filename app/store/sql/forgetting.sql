-- selected --
-- The current versions of the entries that a selector may name, by id. With `terms` those that have every word of a text.
SELECT e.*, s.name AS space
  FROM entry_versions e
  JOIN spaces s ON s.tenant_id = e.tenant_id AND s.id = e.space_id
 WHERE e.tenant_id = %(tenant_id)s AND e.space_id = %(space_id)s AND e.closed_at IS NULL
   AND (%(ids)s::uuid[] IS NULL OR e.id = ANY(%(ids)s::uuid[]))
   AND (%(terms)s::bigint[] IS NULL
        OR e.id IN (SELECT p.id
                      FROM unnest(%(terms)s::bigint[], %(words)s::int[]) AS q(term, word)
                      JOIN entry_postings p
                        ON p.tenant_id = %(tenant_id)s AND p.space_id = %(space_id)s AND p.term = q.term
                     GROUP BY p.id, p.text_version
                    HAVING count(DISTINCT q.word) = %(words_count)s))
   AND (%(turn)s::uuid IS NULL OR e.id = %(turn)s::uuid
        OR (e.id IN (SELECT v.entry FROM memory_evidence v
                      WHERE v.tenant_id = %(tenant_id)s AND v.space_id = %(space_id)s AND v.turn = %(turn)s::uuid)
            AND NOT EXISTS (SELECT FROM memory_evidence v
                             WHERE v.tenant_id = %(tenant_id)s AND v.space_id = %(space_id)s AND v.entry = e.id
                               AND v.turn <> %(turn)s::uuid AND v.content IS NOT NULL)))
   AND (%(session)s::uuid IS NULL
        OR e.id IN (SELECT t.id FROM turns t
                     WHERE t.tenant_id = %(tenant_id)s AND t.space_id = %(space_id)s AND t.session = %(session)s::uuid
                     UNION ALL
                    SELECT c.id FROM conversations c
                     WHERE c.tenant_id = %(tenant_id)s AND c.space_id = %(space_id)s AND c.session = %(session)s::uuid)
        OR (e.id IN (SELECT v.entry
                       FROM turns t
                       JOIN memory_evidence v
                         ON v.tenant_id = %(tenant_id)s AND v.space_id = %(space_id)s AND v.turn = t.id
                      WHERE t.tenant_id = %(tenant_id)s AND t.space_id = %(space_id)s AND t.session = %(session)s::uuid)
            AND NOT EXISTS (SELECT FROM memory_evidence v
                             WHERE v.tenant_id = %(tenant_id)s AND v.space_id = %(space_id)s AND v.entry = e.id
                               AND v.content IS NOT NULL
                               AND v.turn NOT IN (SELECT t.id FROM turns t
                                                   WHERE t.tenant_id = %(tenant_id)s AND t.space_id = %(space_id)s
                                                     AND t.session = %(session)s::uuid))))
   AND (%(author_id)s::text IS NULL OR e.author_id = %(author_id)s::text)
   AND (%(author_name)s::text IS NULL OR e.author_name = %(author_name)s::text)
   AND (%(author_platform)s::text IS NULL OR e.author_platform = %(author_platform)s::text)
   AND (%(since)s::timestamptz IS NULL OR e.first_recorded_at >= %(since)s::timestamptz)
   AND (%(until)s::timestamptz IS NULL OR e.first_recorded_at < %(until)s::timestamptz)
 ORDER BY e.id;

-- derived --
-- The entries whose source is another entry.
SELECT e.*, s.name AS space
  FROM entry_versions e
  JOIN spaces s ON s.tenant_id = e.tenant_id AND s.id = e.space_id
 WHERE e.tenant_id = %(tenant_id)s AND e.space_id = %(space_id)s AND e.closed_at IS NULL
   AND e.source = ANY(%(sources)s::text[])
 ORDER BY e.id;

-- texts --
SELECT DISTINCT text FROM entry_versions
 WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND (%(id)s::uuid IS NULL OR id = %(id)s::uuid);

-- mentioning --
SELECT DISTINCT e.id, e.tier::text AS tier
  FROM entry_versions e
 WHERE e.tenant_id = %(tenant_id)s AND e.space_id = %(space_id)s
   AND EXISTS (SELECT FROM unnest(%(texts)s::text[]) AS t(text)
                WHERE strpos(lower(concat_ws(' ', e.text, e.context, e.trigger)), t.text) > 0)
 ORDER BY e.id
 LIMIT 100;

-- to_cut --
-- What was said of some entries in the space, or elsewhere by its person: the messages that they rest on, of which they
-- are made, or that say one of some texts; and what was said in a turn or a session, by an author or at
-- a time. `whole`: all of it goes.
-- Who says a text is looked up by its words; a message that is not indexed, or not in full, is read. `answers`: the agent
-- says it in a turn on which an entry rests.
WITH of AS (SELECT name FROM spaces WHERE tenant_id = %(tenant_id)s AND id = %(space_id)s),
evidence AS MATERIALIZED (
    SELECT turn, message FROM memory_evidence
     WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND entry = ANY(%(ids)s::uuid[]) AND content IS NOT NULL
),
saying AS MATERIALIZED (
    SELECT p.id
      FROM unnest(%(numbers)s::int[], %(counts)s::int[], %(terms)s::bigint[], %(words)s::int[]) AS q(number, count, term, word)
      JOIN message_postings p
        ON p.tenant_id = %(tenant_id)s AND p.space_id = %(space_id)s AND p.term = q.term
     GROUP BY q.number, q.count, p.id
    HAVING count(DISTINCT q.word) = q.count
     UNION
    SELECT p.id FROM message_postings p
     WHERE p.tenant_id = %(tenant_id)s AND p.space_id = %(space_id)s AND p.term = %(in_part)s
),
said AS (
    SELECT * FROM messages m
     WHERE m.tenant_id = %(tenant_id)s AND m.space_id = %(space_id)s AND m.deleted_at IS NULL
       AND (%(selects)s OR %(reads_all)s OR m.terms = '{}' OR m.turn = ANY(%(ids)s::uuid[])
            OR m.turn IN (SELECT turn FROM evidence) OR m.id IN (SELECT id FROM saying))
     UNION ALL
    SELECT * FROM messages m
     WHERE m.tenant_id = %(tenant_id)s AND m.personal_space = (SELECT name FROM of) AND m.space_id <> %(space_id)s
       AND m.deleted_at IS NULL
     UNION ALL
    SELECT answer.*
      FROM (SELECT DISTINCT m.space_id, m.turn FROM messages m
             WHERE m.tenant_id = %(tenant_id)s AND m.personal_space = (SELECT name FROM of) AND m.space_id <> %(space_id)s
               AND m.id IN (SELECT message FROM evidence)) AS t
      JOIN messages answer
        ON answer.tenant_id = %(tenant_id)s AND answer.space_id = t.space_id AND answer.turn = t.turn
     WHERE answer.role = 'assistant' AND answer.deleted_at IS NULL
),
found AS (
    SELECT m.space_id, m.id, m.text, regexp_replace(lower(m.text), '\s+', ' ', 'g') AS words,
           m.turn = ANY(%(ids)s::uuid[]) AND (m.space_id = %(space_id)s OR m.personal_space IS NOT NULL)
           OR (%(selects)s AND (%(turn)s::uuid IS NULL OR m.turn = %(turn)s::uuid)
               AND (%(session)s::uuid IS NULL OR m.session = %(session)s::uuid)
               AND (%(author_id)s::text IS NULL OR m.author_id = %(author_id)s::text)
               AND (%(author_name)s::text IS NULL OR m.author_name = %(author_name)s::text)
               AND (%(author_platform)s::text IS NULL OR m.platform = %(author_platform)s::text)
               AND (%(since)s::timestamptz IS NULL OR m.recorded_at >= %(since)s::timestamptz)
               AND (%(until)s::timestamptz IS NULL OR m.recorded_at < %(until)s::timestamptz)) AS whole,
           m.id IN (SELECT message FROM evidence) AS rests,
           m.role = 'assistant' AND m.turn IN (SELECT turn FROM evidence) AS answers,
           %(reads_all)s OR m.terms = '{}' OR m.space_id <> %(space_id)s OR m.id IN (SELECT id FROM saying) AS may_say
      FROM said m
)
SELECT space_id, id, text, whole, rests, answers FROM found
 WHERE whole OR rests OR answers
    OR (may_say AND EXISTS (SELECT FROM unnest(%(texts)s::text[]) AS t(text) WHERE strpos(found.words, t.text) > 0));

-- erase_logged --
-- Requests logged in the streams in which the space's person spoke, that quote one of some texts.
DELETE FROM assemblies a
 WHERE a.tenant_id = %(tenant_id)s
   AND a.space_id IN (SELECT m.space_id FROM messages m
                       WHERE m.tenant_id = %(tenant_id)s
                         AND m.personal_space = (SELECT name FROM spaces WHERE tenant_id = %(tenant_id)s AND id = %(space_id)s))
   AND EXISTS (SELECT FROM lower(asked_in(a.request)) AS said
                CROSS JOIN unnest(%(texts)s::text[]) AS t(text)
                WHERE strpos(said, t.text) > 0);

-- own_elsewhere --
SELECT m.space_id, m.id, m.text
  FROM messages m
 WHERE m.tenant_id = %(tenant_id)s AND m.space_id <> %(space_id)s AND m.deleted_at IS NULL
   AND m.personal_space = (SELECT name FROM spaces WHERE tenant_id = %(tenant_id)s AND id = %(space_id)s);

-- forget_summaries --
UPDATE conversations SET summary = NULL
 WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND id = ANY(%(ids)s::uuid[]);

-- episodes_of --
-- The live episodes of the space that are made of some turns, or of their conversations.
SELECT e.*, s.name AS space
  FROM entry_versions e
  JOIN spaces s ON s.tenant_id = e.tenant_id AND s.id = e.space_id
 WHERE e.tenant_id = %(tenant_id)s AND e.space_id = %(space_id)s AND e.closed_at IS NULL AND e.status = 'active'
   AND (e.id = ANY(%(ids)s::uuid[])
        OR e.id IN (SELECT t.conversation FROM turns t
                     WHERE t.tenant_id = %(tenant_id)s AND t.space_id = %(space_id)s AND t.id = ANY(%(ids)s::uuid[])));

-- sessions --
SELECT id FROM sessions WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s;

-- jobs_left --
-- Work that is to take what was said out of what is derived, and is not done.
SELECT count(*) AS jobs FROM jobs
 WHERE tenant_id = %(tenant_id)s AND space_id = ANY(%(space_ids)s::uuid[]) 
   AND (subject = ANY(%(turns)s::uuid[])
        OR subject IN (SELECT t.conversation FROM turns t
                        WHERE t.tenant_id = %(tenant_id)s AND t.space_id = ANY(%(space_ids)s::uuid[])
                          AND t.id = ANY(%(turns)s::uuid[])))
   AND erase AND state <> 'succeeded';

-- erase_space --
SELECT erase_space(%(tenant_id)s, %(space_id)s);

-- exists --
SELECT EXISTS (SELECT FROM spaces WHERE tenant_id = %(tenant_id)s AND id = %(space_id)s);

-- add_receipt --
INSERT INTO receipts (tenant_id, space_id, id, created_at, body, digest)
VALUES (%(tenant_id)s, %(space_id)s, %(id)s, %(created_at)s, %(body)s::jsonb, %(digest)s);

-- find_receipt --
SELECT id, space_id, created_at, body, digest FROM receipts
 WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND id = %(id)s;

-- remaining --
SELECT remaining(%(tenant_id)s, %(space_id)s, %(ids)s::uuid[], %(until)s::uuid);
