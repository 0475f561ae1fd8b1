-- find_kept --
-- The turn that has an id, or a message's, already: the same one if the fingerprints are equal.
SELECT t.id, t.fingerprint
  FROM turns t
 WHERE t.tenant_id = %(tenant_id)s AND t.space_id = %(space_id)s AND t.given_id = %(given_id)s
 UNION
SELECT t.id, t.fingerprint
  FROM unnest(%(platforms)s::text[], %(given_ids)s::text[]) AS given(platform, id)
  JOIN messages m
    ON m.tenant_id = %(tenant_id)s AND m.space_id = %(space_id)s AND m.platform = given.platform
   AND m.given_id = given.id
  JOIN turns t ON t.tenant_id = m.tenant_id AND t.space_id = m.space_id AND t.id = m.turn;

-- store_turn --
-- A turn with everything that goes with it, in one statement. The space is there from its first turn on, and no
-- writer who has locked it is waited for. The session goes on, after a long silence with another conversation;
-- turns of one session follow one another. Returns what the statement decided, and the conversations that it closed.
WITH known AS (
    INSERT INTO spaces (tenant_id, id, name, created_at, written_at)
    SELECT %(tenant_id)s, %(space_id)s, %(space)s, now(), clock_timestamp()
     WHERE NOT EXISTS (SELECT 1 FROM spaces WHERE tenant_id = %(tenant_id)s AND id = %(space_id)s)
        ON CONFLICT (tenant_id, id) DO NOTHING
),
session AS (
    INSERT INTO sessions AS s (tenant_id, space_id, id, name, conversation, started_at, last_at, created_at, scope)
    VALUES (%(tenant_id)s, %(space_id)s, %(session)s, %(session_name)s, %(conversation)s, %(said_at)s, %(said_at)s, now(),
            coalesce(%(scope)s::text, ''))
        ON CONFLICT (tenant_id, space_id, id) DO UPDATE
       SET conversation = CASE WHEN s.conversation IS NULL
                                 OR excluded.last_at - s.last_at >= make_interval(secs => %(gap_s)s)
                               THEN excluded.conversation ELSE s.conversation END,
           started_at = least(s.started_at, excluded.started_at),
           last_at = greatest(s.last_at, excluded.last_at),
           scope = coalesce(%(scope)s::text, s.scope)
    RETURNING s.name, s.conversation, s.scope
),
conversation AS (
    INSERT INTO conversations AS c (tenant_id, space_id, id, session, started_at, last_at, recorded_at)
    SELECT %(tenant_id)s, %(space_id)s, conversation, %(session)s, %(said_at)s, %(said_at)s, now() FROM session
        ON CONFLICT (tenant_id, space_id, id) DO UPDATE
       SET started_at = least(c.started_at, excluded.started_at), last_at = greatest(c.last_at, excluded.last_at),
           recorded_at = now()
),
closed AS (
    UPDATE conversations c SET closed_at = now()
     WHERE c.tenant_id = %(tenant_id)s AND c.space_id = %(space_id)s AND c.session = %(session)s
       AND c.closed_at IS NULL AND c.id <> (SELECT conversation FROM session)
    RETURNING c.id
),
turn AS (
    INSERT INTO turns (
        tenant_id, space_id, id, session, conversation, given_id, fingerprint, said_at, recorded_at, revision,
        scope)
    SELECT %(tenant_id)s, %(space_id)s, %(id)s, %(session)s, conversation, %(given_id)s, %(fingerprint)s, %(said_at)s,
           now(), 1, scope
      FROM session
    RETURNING conversation, recorded_at, scope
),
said AS (
    INSERT INTO messages (
        tenant_id, space_id, id, turn, session, position, given_id, platform, author_id, author_name, role, text,
        said_at, recorded_at, mentions, media, event, personal_space, version, terms)
    SELECT %(tenant_id)s, %(space_id)s, m.id, %(id)s, %(session)s, m.position, m.given_id, m.platform, m.author_id,
           m.author_name, m.role, m.text, m.said_at, now(), m.mentions, m.media, m.event, m.personal_space, 1, '{}'
      FROM jsonb_to_recordset(%(messages)s) AS m(
           id uuid, position smallint, given_id text, platform text, author_id text, author_name text, role text,
           text text, said_at timestamptz, mentions text[], media jsonb, event text, personal_space text)
)
SELECT turn.conversation, turn.recorded_at, turn.scope, session.name AS session_name,
       ARRAY(SELECT id FROM closed) AS closed
  FROM turn CROSS JOIN session;

-- take_turn_id --
SELECT pg_advisory_xact_lock(hashtextextended(
    concat_ws(' ', %(tenant_id)s::uuid, %(space_id)s::uuid, %(given_id)s::text), 0));

-- insert_jobs --
INSERT INTO jobs (tenant_id, space_id, id, task, subject, erase, state, attempts, created_at)
SELECT %(tenant_id)s, j.space_id, j.id, j.task, j.subject, j.erase, 'waiting', 0, now()
  FROM unnest(%(space_ids)s::uuid[], %(ids)s::uuid[], %(tasks)s::text[], %(subjects)s::uuid[], %(erase)s::boolean[])
       AS j(space_id, id, task, subject, erase);

-- find_turn --
SELECT t.*, s.name AS session_name, p.name AS space
  FROM turns t
  JOIN sessions s ON s.tenant_id = t.tenant_id AND s.space_id = t.space_id AND s.id = t.session
  JOIN spaces p ON p.tenant_id = t.tenant_id AND p.id = t.space_id
 WHERE t.tenant_id = %(tenant_id)s AND t.space_id = %(space_id)s AND t.id = %(id)s;

-- turn_messages --
-- The messages of a turn, and of the turn before it in the same session.
SELECT m.*, p.name AS space
  FROM (SELECT %(id)s::uuid AS id
         UNION ALL
        SELECT b.id
          FROM turns t
         CROSS JOIN LATERAL (
            SELECT x.id FROM turns x
             WHERE x.tenant_id = %(tenant_id)s AND x.space_id = %(space_id)s AND x.session = t.session
               AND (x.said_at, x.id) < (t.said_at, t.id)
             ORDER BY x.said_at DESC, x.id DESC
             LIMIT 1) AS b
         WHERE t.tenant_id = %(tenant_id)s AND t.space_id = %(space_id)s AND t.id = %(id)s) AS wanted
  JOIN messages m ON m.tenant_id = %(tenant_id)s AND m.space_id = %(space_id)s AND m.turn = wanted.id
  JOIN spaces p ON p.tenant_id = m.tenant_id AND p.id = m.space_id
 ORDER BY m.turn, m.position;

-- barred --
-- Whose words of a turn stay out of personal memory; '' is everybody.
SELECT b.viewer
  FROM barriers b
 WHERE b.tenant_id = %(tenant_id)s AND b.space_id = %(space_id)s
   AND b.turn IN (%(turn)s, (SELECT t.given_id FROM turns t
                              WHERE t.tenant_id = %(tenant_id)s AND t.space_id = %(space_id)s AND t.id = %(id)s));

-- find_message --
SELECT m.*, p.name AS space FROM messages m JOIN spaces p ON p.tenant_id = m.tenant_id AND p.id = m.space_id
 WHERE m.tenant_id = %(tenant_id)s AND m.space_id = %(space_id)s AND m.id = %(id)s AND m.deleted_at IS NULL;

-- find_messages --
-- Messages of several spaces, those that were deleted included.
SELECT m.*, p.name AS space
  FROM unnest(%(space_ids)s::uuid[], %(ids)s::uuid[]) AS wanted(space_id, id)
  JOIN messages m ON m.tenant_id = %(tenant_id)s AND m.space_id = wanted.space_id AND m.id = wanted.id
  JOIN spaces p ON p.tenant_id = m.tenant_id AND p.id = m.space_id;

-- list_messages --
SELECT m.*, p.name AS space
  FROM (SELECT * FROM messages m
         WHERE m.tenant_id = %(tenant_id)s AND m.space_id = %(space_id)s AND m.deleted_at IS NULL
           AND (%(session)s::uuid IS NULL OR m.session = %(session)s)
           AND (%(since)s::timestamptz IS NULL OR m.said_at >= %(since)s)
           AND (%(until)s::timestamptz IS NULL OR m.said_at < %(until)s)
           AND (%(author)s::text IS NULL OR m.author_id = %(author)s OR m.author_name = %(author)s)
           AND (%(before)s::uuid IS NULL OR m.id < %(before)s)
         ORDER BY m.tenant_id DESC, m.space_id DESC, m.id DESC
         LIMIT %(limit)s) AS m
  JOIN spaces p ON p.tenant_id = m.tenant_id AND p.id = m.space_id
 ORDER BY m.id DESC;

-- search_messages --
-- BM25 (k1 1.2, b 0.75) over the messages of one space that the history task has indexed.
WITH wanted AS MATERIALIZED (SELECT DISTINCT term FROM unnest(%(terms)s::bigint[]) AS t(term)),
hits AS MATERIALIZED (
    SELECT p.id, p.term, p.tf, p.length
      FROM wanted w
      JOIN message_postings p
        ON p.tenant_id = %(tenant_id)s AND p.space_id = %(space_id)s AND p.term = w.term
),
counted AS MATERIALIZED (
    SELECT greatest(count(*), 1)::float8 AS messages FROM messages
     WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s
),
idf AS (
    SELECT term, ln(1 + (greatest(c.messages, count(*)) - count(*) + 0.5) / (count(*) + 0.5)) AS idf
      FROM hits CROSS JOIN counted c GROUP BY term, c.messages
),
scored AS MATERIALIZED (
    SELECT h.id, sum(i.idf * h.tf * 2.2 / (h.tf + 1.2 * (0.25 + 0.75 * h.length / a.length))) AS bm25_score
      FROM hits h JOIN idf i USING (term) CROSS JOIN (SELECT avg(length)::float8 AS length FROM hits) AS a
     GROUP BY h.id
)
SELECT m.*, p.name AS space
  FROM scored s
 CROSS JOIN LATERAL (
    SELECT * FROM messages x
     WHERE x.tenant_id = %(tenant_id)s AND x.space_id = %(space_id)s AND x.id = s.id AND x.deleted_at IS NULL
     LIMIT 1) AS m
  JOIN spaces p ON p.tenant_id = m.tenant_id AND p.id = m.space_id
 WHERE (%(session)s::uuid IS NULL OR m.session = %(session)s)
   AND (%(since)s::timestamptz IS NULL OR m.said_at >= %(since)s)
   AND (%(until)s::timestamptz IS NULL OR m.said_at < %(until)s)
   AND (%(author)s::text IS NULL OR m.author_id = %(author)s OR m.author_name = %(author)s)
 ORDER BY s.bm25_score DESC, m.id DESC
 LIMIT %(limit)s;

-- recent_messages --
SELECT m.*, p.name AS space
  FROM (SELECT * FROM messages
         WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND session = %(session)s AND deleted_at IS NULL
           AND recorded_at > now() - make_interval(secs => %(ttl_s)s)
         ORDER BY said_at DESC, id DESC
         LIMIT %(limit)s) AS m
  JOIN spaces p ON p.tenant_id = m.tenant_id AND p.id = m.space_id
 ORDER BY m.said_at, m.id;

-- gone_messages --
SELECT id FROM messages
 WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND session = %(session)s AND deleted_at IS NOT NULL
   AND recorded_at > now() - make_interval(secs => %(ttl_s)s);

-- edit_message --
UPDATE messages SET text = %(text)s, version = version + 1, edited_at = now()
 WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND id = %(id)s AND version = %(version)s
   AND deleted_at IS NULL;

-- revise_turns --
-- The turns whose messages change, and those after them, whose episodes are indexed with them: locked, and with the
-- conversations that have been summarised.
WITH changed AS MATERIALIZED (
    SELECT DISTINCT m.turn FROM messages m
     WHERE m.tenant_id = %(tenant_id)s AND m.space_id = %(space_id)s AND m.deleted_at IS NULL
       AND (m.id = %(message)s OR m.session = %(session)s)
),
after AS MATERIALIZED (
    SELECT n.id
      FROM changed
      JOIN turns t ON t.tenant_id = %(tenant_id)s AND t.space_id = %(space_id)s AND t.id = changed.turn
     CROSS JOIN LATERAL (
        SELECT x.id FROM turns x
         WHERE x.tenant_id = %(tenant_id)s AND x.space_id = %(space_id)s AND x.session = t.session
           AND (x.said_at, x.id) > (t.said_at, t.id)
         ORDER BY x.said_at, x.id
         LIMIT 1) AS n
)
UPDATE turns t SET revision = revision + 1
 WHERE t.tenant_id = %(tenant_id)s AND t.space_id = %(space_id)s
   AND t.id IN (SELECT turn FROM changed UNION SELECT id FROM after)
RETURNING t.id,
          (SELECT c.id FROM conversations c
            WHERE c.tenant_id = t.tenant_id AND c.space_id = t.space_id AND c.id = t.conversation
              AND c.closed_at IS NOT NULL) AS conversation;

-- shorten_message --
UPDATE messages SET text = %(text)s, terms = '{}', version = version + 1, edited_at = now()
 WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND id = %(message)s AND deleted_at IS NULL;

-- delete_messages --
UPDATE messages
   SET text = '', author_id = NULL, author_name = NULL, mentions = '{}', media = '[]', event = NULL, terms = '{}',
       version = version + 1, deleted_at = now()
 WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND deleted_at IS NULL
   AND (id = %(message)s OR session = %(session)s);

-- forget_postings --
-- By what they are indexed under; taken out at once, because they tell what was said.
DELETE FROM message_postings p
 USING (SELECT id, unnest(terms) AS term FROM messages
         WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s
           AND (id = %(message)s OR session = %(session)s OR id = ANY(%(ids)s::uuid[]))) AS known
 WHERE p.tenant_id = %(tenant_id)s AND p.space_id = %(space_id)s AND p.term = known.term AND p.id = known.id;

-- index_message --
UPDATE messages SET terms = %(terms)s
 WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND id = %(id)s;

-- insert_postings --
INSERT INTO message_postings (tenant_id, space_id, term, id, tf, length)
SELECT %(tenant_id)s, %(space_id)s, t.term, %(id)s, t.tf, %(length)s
  FROM unnest(%(terms)s::bigint[], %(tfs)s::real[]) AS t(term, tf);

-- lock_turn --
SELECT revision FROM turns
 WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND id = %(id)s
   FOR SHARE;

-- revision --
-- How often what something is derived from has changed; it cannot change any more until the transaction ends.
SELECT coalesce(sum(revision), 0)::bigint AS revision
  FROM (SELECT revision FROM turns
         WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND (id = %(id)s OR conversation = %(id)s)
           FOR SHARE) AS source;

-- mark_derived --
INSERT INTO derived_entries (tenant_id, space_id, id, made_at)
VALUES (%(tenant_id)s, %(space_id)s, %(id)s, now())
    ON CONFLICT DO NOTHING;

-- list_sessions --
SELECT s.*, p.name AS space,
       (SELECT count(*) FROM messages m
         WHERE m.tenant_id = s.tenant_id AND m.space_id = s.space_id AND m.session = s.id AND m.deleted_at IS NULL
       ) AS messages,
       (SELECT left(m.text, 200) FROM messages m
         WHERE m.tenant_id = s.tenant_id AND m.space_id = s.space_id AND m.session = s.id AND m.deleted_at IS NULL
           AND m.text <> ''
         ORDER BY m.said_at DESC, m.id DESC
         LIMIT 1) AS latest
  FROM sessions s
  JOIN spaces p ON p.tenant_id = s.tenant_id AND p.id = s.space_id
 WHERE s.tenant_id = %(tenant_id)s AND s.space_id = %(space_id)s
   AND (%(id)s::uuid IS NULL OR s.id = %(id)s)
   AND (%(since)s::timestamptz IS NULL OR s.last_at >= %(since)s)
   AND (%(until)s::timestamptz IS NULL OR s.started_at < %(until)s)
   AND (%(last_at)s::timestamptz IS NULL OR (s.last_at, s.id) < (%(last_at)s::timestamptz, %(before)s::uuid))
 ORDER BY s.last_at DESC, s.id DESC
 LIMIT %(limit)s;

-- session_conversations --
SELECT c.*, s.scope, p.name AS space
  FROM conversations c
  JOIN sessions s ON s.tenant_id = c.tenant_id AND s.space_id = c.space_id AND s.id = c.session
  JOIN spaces p ON p.tenant_id = c.tenant_id AND p.id = c.space_id
 WHERE c.tenant_id = %(tenant_id)s AND c.space_id = %(space_id)s AND c.session = %(session)s
 ORDER BY c.started_at DESC, c.id DESC
 LIMIT 200;

-- find_conversation --
SELECT c.*, s.scope, p.name AS space
  FROM conversations c
  JOIN sessions s ON s.tenant_id = c.tenant_id AND s.space_id = c.space_id AND s.id = c.session
  JOIN spaces p ON p.tenant_id = c.tenant_id AND p.id = c.space_id
 WHERE c.tenant_id = %(tenant_id)s AND c.space_id = %(space_id)s AND c.id = %(id)s;

-- conversation_messages --
SELECT m.*, p.name AS space
  FROM turns t
  JOIN messages m ON m.tenant_id = t.tenant_id AND m.space_id = t.space_id AND m.turn = t.id
  JOIN spaces p ON p.tenant_id = m.tenant_id AND p.id = m.space_id
 WHERE t.tenant_id = %(tenant_id)s AND t.space_id = %(space_id)s AND t.conversation = %(id)s
 ORDER BY t.said_at, t.id, m.position;

-- keep_summary --
UPDATE conversations SET summary = %(summary)s
 WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND id = %(id)s;

-- close_session --
UPDATE conversations SET closed_at = now()
 WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND session = %(session)s AND closed_at IS NULL
RETURNING space_id, id;

-- end_session --
UPDATE sessions SET conversation = NULL
 WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND id = %(session)s;

-- close_silent --
-- The session is locked first, as a turn does: neither closes what the other goes on with.
WITH silent AS MATERIALIZED (
    SELECT s.space_id, s.id FROM sessions s
      JOIN conversations c
        ON c.tenant_id = s.tenant_id AND c.space_id = s.space_id AND c.id = s.conversation AND c.closed_at IS NULL
     WHERE s.tenant_id = %(tenant_id)s AND c.recorded_at < now() - make_interval(secs => %(gap_s)s)
     ORDER BY s.space_id, s.id
     LIMIT 500
       FOR UPDATE OF s SKIP LOCKED
),
ended AS (
    UPDATE sessions s SET conversation = NULL
      FROM silent
     WHERE s.tenant_id = %(tenant_id)s AND s.space_id = silent.space_id AND s.id = silent.id
)
UPDATE conversations c SET closed_at = now()
  FROM silent
 WHERE c.tenant_id = %(tenant_id)s AND c.space_id = silent.space_id AND c.session = silent.id AND c.closed_at IS NULL
RETURNING c.space_id, c.id;

-- old_turns --
SELECT t.*, p.name AS space, s.name AS session_name
  FROM turns t
  JOIN spaces p ON p.tenant_id = t.tenant_id AND p.id = t.space_id
  JOIN sessions s ON s.tenant_id = t.tenant_id AND s.space_id = t.space_id AND s.id = t.session
 WHERE t.tenant_id = %(tenant_id)s AND t.recorded_at < %(until)s
 ORDER BY t.recorded_at, t.id
 LIMIT %(limit)s
   FOR UPDATE OF t SKIP LOCKED;

-- old_messages --
SELECT m.*, p.name AS space
  FROM unnest(%(space_ids)s::uuid[], %(turns)s::uuid[]) AS old(space_id, turn)
  JOIN messages m ON m.tenant_id = %(tenant_id)s AND m.space_id = old.space_id AND m.turn = old.turn
  JOIN spaces p ON p.tenant_id = m.tenant_id AND p.id = m.space_id
 ORDER BY m.recorded_at, m.turn, m.position;

-- purge_postings --
DELETE FROM message_postings p
 USING (SELECT m.space_id, m.id, unnest(m.terms) AS term
          FROM unnest(%(space_ids)s::uuid[], %(turns)s::uuid[]) AS old(space_id, turn)
          JOIN messages m ON m.tenant_id = %(tenant_id)s AND m.space_id = old.space_id AND m.turn = old.turn) AS known
 WHERE p.tenant_id = %(tenant_id)s AND p.space_id = known.space_id AND p.term = known.term AND p.id = known.id;

-- purge_messages --
DELETE FROM messages m USING unnest(%(space_ids)s::uuid[], %(turns)s::uuid[]) AS old(space_id, turn)
 WHERE m.tenant_id = %(tenant_id)s AND m.space_id = old.space_id AND m.turn = old.turn;

-- purge_turns --
DELETE FROM turns t USING unnest(%(space_ids)s::uuid[], %(turns)s::uuid[]) AS old(space_id, turn)
 WHERE t.tenant_id = %(tenant_id)s AND t.space_id = old.space_id AND t.id = old.turn;

-- purge_conversations --
-- Those of which no turn is left.
DELETE FROM conversations c
 WHERE c.tenant_id = %(tenant_id)s AND c.closed_at IS NOT NULL AND c.last_at < %(until)s
   AND NOT EXISTS (SELECT FROM turns t
                    WHERE t.tenant_id = c.tenant_id AND t.space_id = c.space_id AND t.conversation = c.id);

-- purge_sessions --
DELETE FROM sessions s
 WHERE s.tenant_id = %(tenant_id)s AND s.last_at < %(until)s AND s.conversation IS NULL
   AND NOT EXISTS (SELECT FROM turns t
                    WHERE t.tenant_id = s.tenant_id AND t.space_id = s.space_id AND t.session = s.id);

-- purge_jobs --
DELETE FROM jobs
 WHERE tenant_id = %(tenant_id)s
   AND (state = 'succeeded' AND tried_at < now() - interval '1 day'
        OR state = 'failed' AND tried_at < now() - interval '30 days');

-- history_settings --
SELECT days, report FROM history_settings WHERE tenant_id = %(tenant_id)s;

-- set_history_days --
INSERT INTO history_settings (tenant_id, days) VALUES (%(tenant_id)s, %(days)s)
    ON CONFLICT (tenant_id) DO UPDATE SET days = excluded.days;

-- keep_report --
INSERT INTO history_settings (tenant_id, report) VALUES (%(tenant_id)s, %(report)s)
    ON CONFLICT (tenant_id) DO UPDATE SET report = excluded.report;
