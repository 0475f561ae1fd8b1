-- tenant --
SELECT set_config('app.tenant_id', %(tenant_id)s::text, true);

-- header --
SELECT now(), (SELECT count(*) FROM entry_versions WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s)
  FROM spaces WHERE tenant_id = %(tenant_id)s AND id = %(space_id)s;

-- tables --
SELECT space_tables();

-- known --
SELECT DISTINCT id FROM entry_versions
 WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND id = ANY(%(ids)s::uuid[]);
