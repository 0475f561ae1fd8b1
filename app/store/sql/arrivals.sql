-- known --
-- Those of some marks of what came from elsewhere that were set already.
SELECT id FROM derived_entries
 WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND id = ANY(%(marks)s::uuid[]);

-- note --
INSERT INTO derived_entries (tenant_id, space_id, id, made_at)
SELECT %(tenant_id)s, %(space_id)s, mark, now() FROM unnest(%(marks)s::uuid[]) AS mark
    ON CONFLICT DO NOTHING;
