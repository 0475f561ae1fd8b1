-- current_record --
SELECT r.*, s.name AS space
  FROM record_versions r
  JOIN spaces s ON s.tenant_id = r.tenant_id AND s.id = r.space_id
 WHERE r.tenant_id = %(tenant_id)s AND r.space_id = %(space_id)s AND r.id = %(id)s AND r.closed_at IS NULL;

-- list_records --
SELECT r.*, s.name AS space
  FROM record_versions r
  JOIN spaces s ON s.tenant_id = r.tenant_id AND s.id = r.space_id
 WHERE r.tenant_id = %(tenant_id)s AND r.space_id = %(space_id)s AND r.closed_at IS NULL
   AND (%(before)s::uuid IS NULL OR r.id < %(before)s::uuid)
   AND (%(kind)s::text IS NULL OR r.kind = %(kind)s)
   AND (%(subject)s::text IS NULL OR %(subject)s = ANY(r.subjects))
   AND (%(status)s::text IS NULL OR r.status = %(status)s)
   AND (%(at)s::timestamptz IS NULL OR coalesce(r.expires_at > %(at)s, TRUE))
 ORDER BY r.id DESC
 LIMIT %(limit)s;

-- record_history --
-- Versions, newest first.
SELECT r.*, s.name AS space
  FROM record_versions r
  JOIN spaces s ON s.tenant_id = r.tenant_id AND s.id = r.space_id
 WHERE r.tenant_id = %(tenant_id)s AND r.space_id = %(space_id)s AND r.id = %(id)s
   AND (%(before)s::int IS NULL OR r.version < %(before)s::int)
 ORDER BY r.version DESC
 LIMIT %(limit)s;

-- close_record --
UPDATE record_versions SET closed_at = %(recorded_at)s
 WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND id = %(id)s AND closed_at IS NULL;

-- insert_record --
INSERT INTO record_versions (tenant_id, space_id, id, version, kind, subjects, payload, text, claim_subject,
                             claim_attribute, claim_value, status, expires_at, created_at, recorded_at, reason)
VALUES (%(tenant_id)s, %(space_id)s, %(id)s, %(version)s, %(kind)s, %(subjects)s, %(payload)s, %(text)s,
        %(claim_subject)s, %(claim_attribute)s, %(claim_value)s, %(status)s, %(expires_at)s, %(created_at)s,
        %(recorded_at)s, %(reason)s);

-- erase_record --
DELETE FROM record_versions WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND id = %(id)s
RETURNING text;

-- open_records --
-- What holds in some spaces at a moment: space by space, the latest first.
SELECT r.*, s.name AS space
  FROM unnest(%(space_ids)s::uuid[]) WITH ORDINALITY AS wanted(id, place)
  JOIN spaces s ON s.tenant_id = %(tenant_id)s AND s.id = wanted.id
 CROSS JOIN LATERAL (
    SELECT * FROM record_versions o
     WHERE o.tenant_id = %(tenant_id)s AND o.space_id = wanted.id AND o.closed_at IS NULL AND o.status = 'open'
       AND coalesce(o.expires_at > %(as_of)s, TRUE)
     ORDER BY o.recorded_at DESC, o.id DESC
     LIMIT 50) AS r
 ORDER BY wanted.place, r.recorded_at DESC, r.id DESC;

-- raise_barrier --
INSERT INTO barriers (tenant_id, space_id, turn, viewer, record, raised_at)
SELECT %(tenant_id)s, %(space_id)s, %(turn)s, viewer, %(record)s, now() FROM unnest(%(viewers)s::text[]) AS v(viewer)
    ON CONFLICT DO NOTHING;

-- revise_barred --
-- The turn that a barrier is about, if it is there already: whoever works on it finds that it has changed.
UPDATE turns SET revision = revision + 1
 WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s
   AND (id = %(id)s::uuid OR given_id = %(turn)s)
RETURNING id;
