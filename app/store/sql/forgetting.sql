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
