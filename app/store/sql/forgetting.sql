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
-- are made, or that say one of some texts; and what was said in a turn or a session, by an author or at a time. `whole`: all of it goes.
WITH of AS (SELECT name FROM spaces WHERE tenant_id = %(tenant_id)s AND id = %(space_id)s),
evidence AS (
    SELECT message FROM memory_evidence
     WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND entry = ANY(%(ids)s::uuid[]) AND content IS NOT NULL
),
said AS (
    SELECT * FROM messages m
     WHERE m.tenant_id = %(tenant_id)s AND m.space_id = %(space_id)s AND m.deleted_at IS NULL
     UNION ALL
    SELECT * FROM messages m
     WHERE m.tenant_id = %(tenant_id)s AND m.personal_space = (SELECT name FROM of) AND m.space_id <> %(space_id)s
       AND m.deleted_at IS NULL
),
found AS (
    SELECT m.space_id, m.id, m.text,
           m.turn = ANY(%(ids)s::uuid[])
           OR (%(selects)s AND (%(turn)s::uuid IS NULL OR m.turn = %(turn)s::uuid)
               AND (%(session)s::uuid IS NULL OR m.session = %(session)s::uuid)
               AND (%(author_id)s::text IS NULL OR m.author_id = %(author_id)s::text)
               AND (%(author_name)s::text IS NULL OR m.author_name = %(author_name)s::text)
               AND (%(author_platform)s::text IS NULL OR m.platform = %(author_platform)s::text)
               AND (%(since)s::timestamptz IS NULL OR m.recorded_at >= %(since)s::timestamptz)
               AND (%(until)s::timestamptz IS NULL OR m.recorded_at < %(until)s::timestamptz)) AS whole,
           m.id IN (SELECT message FROM evidence) AS rests
      FROM said m
)
SELECT * FROM found
 WHERE whole OR rests
    OR EXISTS (SELECT FROM unnest(%(texts)s::text[]) AS t(text) WHERE strpos(lower(found.text), lower(t.text)) > 0);

-- erase_logged --
-- Requests logged in the streams in which the space's person spoke, that quote one of some texts.
DELETE FROM assemblies a
 WHERE a.tenant_id = %(tenant_id)s
   AND a.space_id IN (SELECT m.space_id FROM messages m
                       WHERE m.tenant_id = %(tenant_id)s
                         AND m.personal_space = (SELECT name FROM spaces WHERE tenant_id = %(tenant_id)s AND id = %(space_id)s))
   AND EXISTS (SELECT FROM unnest(%(texts)s::text[]) AS t(text)
                WHERE strpos(lower(a.request ->> 'query'), lower(t.text)) > 0
                   OR EXISTS (SELECT FROM jsonb_path_query(a.request, '$.*[*].text') AS said
                               WHERE strpos(lower(said #>> '{}'), lower(t.text)) > 0));

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
