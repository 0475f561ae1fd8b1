-- evidence_of_turn --
-- What the messages of a turn said, as far as this space remembers it.
SELECT * FROM memory_evidence
 WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND turn = %(turn)s
 ORDER BY message, key;

-- evidence_of_entry --
-- What an entry rests on, oldest first.
SELECT * FROM memory_evidence
 WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND entry = %(id)s AND content IS NOT NULL
 ORDER BY said_at, message, key;

-- bases_of_entries --
-- The messages that some entries rest on, the latest first.
SELECT turn, message, max(said_at) AS said_at, max(content ->> 'source') AS source
  FROM memory_evidence
 WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND entry = ANY(%(ids)s::uuid[]) AND content IS NOT NULL
 GROUP BY turn, message
 ORDER BY max(said_at) DESC, message DESC
 LIMIT %(limit)s;

-- is_derived --
SELECT 1 FROM derived_entries WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND id = %(id)s;

-- keep_evidence --
INSERT INTO memory_evidence (tenant_id, space_id, turn, message, key, version, entry, said_at, content, corrects)
VALUES (%(tenant_id)s, %(space_id)s, %(turn)s, %(message)s, %(key)s, %(version)s, %(entry)s, %(said_at)s, %(content)s, %(corrects)s)
    ON CONFLICT (tenant_id, space_id, turn, message, key)
    DO UPDATE SET version = excluded.version, entry = excluded.entry, said_at = excluded.said_at,
                  content = excluded.content;

-- drop_evidence --
DELETE FROM memory_evidence
 WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND turn = %(turn)s AND message = %(message)s
   AND key = %(key)s;

-- forget_evidence --
-- Of entries that their owner erased: no word stays, and that there was something does.
UPDATE memory_evidence SET content = NULL
 WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND entry = ANY(%(ids)s::uuid[]);

-- replaced_by --
-- The entries that gave way to an entry.
SELECT e.*, s.name AS space
  FROM entry_versions e
  JOIN spaces s ON s.tenant_id = e.tenant_id AND s.id = e.space_id
 WHERE e.tenant_id = %(tenant_id)s AND e.space_id = %(space_id)s AND e.superseded_by = %(id)s
   AND e.closed_at IS NULL AND e.status = 'superseded'
 ORDER BY e.sequence;

-- entries_of_turn --
-- What came of a turn and is still there: episodes first, then memories with the message that each rests on.
SELECT s.name AS space, e.space_id, e.id, e.tier, e.status, d.message
  FROM (SELECT space_id, id, NULL::uuid AS message FROM derived_entries
         WHERE tenant_id = %(tenant_id)s AND space_id = ANY(%(space_ids)s::uuid[]) AND id = %(turn)s
         UNION ALL
        SELECT space_id, entry, message FROM memory_evidence
         WHERE tenant_id = %(tenant_id)s AND space_id = ANY(%(space_ids)s::uuid[]) AND turn = %(turn)s
           AND content IS NOT NULL) AS d
  JOIN entry_versions e
    ON e.tenant_id = %(tenant_id)s AND e.space_id = d.space_id AND e.id = d.id AND e.closed_at IS NULL
  JOIN spaces s ON s.tenant_id = %(tenant_id)s AND s.id = e.space_id
 ORDER BY e.tier::text, d.message, e.space_id, e.id;
