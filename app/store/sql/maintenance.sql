-- tenants --
SELECT id FROM tenants ORDER BY id;

-- spaces_with_proposals --
SELECT s.name FROM spaces s
 WHERE s.tenant_id = %(tenant_id)s
   AND EXISTS (SELECT FROM supersession_proposals p WHERE p.tenant_id = s.tenant_id AND p.space_id = s.id)
 ORDER BY s.name;
