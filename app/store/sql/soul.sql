-- current_block --
SELECT b.*, s.name AS space
  FROM soul_blocks b
  JOIN spaces s ON s.tenant_id = b.tenant_id AND s.id = b.space_id
 WHERE b.tenant_id = %(tenant_id)s AND b.space_id = %(space_id)s AND b.id = %(id)s AND b.closed_at IS NULL;

-- blocks --
-- The current blocks, in the order in which they are rendered.
SELECT id, version, name, text, position, active, recorded_at, reason
  FROM soul_blocks
 WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND closed_at IS NULL
 ORDER BY position, name, id;

-- history --
-- Versions, newest first.
SELECT id, version, name, text, position, active, recorded_at, reason
  FROM soul_blocks
 WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND id = %(id)s
   AND (%(before)s::int IS NULL OR version < %(before)s::int)
 ORDER BY version DESC
 LIMIT %(limit)s;

-- versions --
-- Given versions of given blocks, in no order.
SELECT b.id, b.version, b.name, b.text, b.position, b.active, b.recorded_at, b.reason
  FROM unnest(%(ids)s::uuid[], %(versions)s::int[]) AS wanted(id, version)
  JOIN soul_blocks b
    ON b.tenant_id = %(tenant_id)s AND b.space_id = %(space_id)s AND b.id = wanted.id AND b.version = wanted.version;

-- close_version --
UPDATE soul_blocks SET closed_at = %(recorded_at)s
 WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND id = %(id)s AND closed_at IS NULL;

-- insert_version --
INSERT INTO soul_blocks (tenant_id, space_id, id, version, name, text, position, active, recorded_at, reason)
VALUES (%(tenant_id)s, %(space_id)s, %(id)s, %(version)s, %(name)s, %(text)s, %(position)s, %(active)s,
        %(recorded_at)s, %(reason)s);

-- erase --
DELETE FROM soul_blocks WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND id = %(id)s
RETURNING text;
