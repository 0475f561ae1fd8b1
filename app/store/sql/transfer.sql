-- tenant --
SELECT set_config('app.tenant_id', %(tenant_id)s::text, true);

-- header --
SELECT now(), (SELECT count(*) FROM entry_versions WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s)
  FROM spaces WHERE tenant_id = %(tenant_id)s AND id = %(space_id)s;

-- tables --
SELECT space_tables();

-- known --
SELECT id, version, recorded_at FROM entry_versions
 WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND id = ANY(%(ids)s::uuid[]);

-- drop_stray_postings --
-- Words of messages that are not here, or do not have them: deleted or edited here since, or forgotten.
DELETE FROM message_postings p
 WHERE p.tenant_id = %(tenant_id)s AND p.space_id = %(space_id)s
   AND NOT EXISTS (SELECT FROM messages m
                    WHERE m.tenant_id = p.tenant_id AND m.space_id = p.space_id AND m.id = p.id
                      AND m.deleted_at IS NULL AND p.term = ANY(m.terms));
