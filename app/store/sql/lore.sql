-- states --
-- What tells whether the subjects of some spaces are still those that were read.
SELECT s.id, s.sequence, s.written_at::text, s.created_at::text
  FROM spaces s
 WHERE s.tenant_id = %(tenant_id)s AND s.id = ANY(%(space_ids)s::uuid[]);

-- subjects --
SELECT text, claim_subject, tags
  FROM entry_versions
 WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND tier = 'memories' AND closed_at IS NULL
   AND status = 'active'
 ORDER BY id
 LIMIT 2000;
