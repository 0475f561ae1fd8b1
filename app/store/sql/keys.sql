-- find_key --
-- By prefix alone: the tenant is not known yet. The policy on api_keys lets this one row through.
SELECT k.tenant_id, k.secret_hash, k.role, k.spaces, k.expires_at,
       coalesce(extract(epoch FROM k.expires_at - now()), 'infinity')::float8 AS valid_s
  FROM api_keys k
 WHERE k.prefix = %(prefix)s AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now());

-- add_key --
INSERT INTO api_keys (tenant_id, id, prefix, secret_hash, name, role, spaces, created_at, expires_at)
VALUES (%(tenant_id)s, %(id)s, %(prefix)s, %(secret_hash)s, %(name)s, %(role)s, %(spaces)s, now(),
        least(now() + make_interval(secs => %(lifetime_s)s), %(not_after)s::timestamptz))
    ON CONFLICT (prefix) DO NOTHING
RETURNING created_at, expires_at;

-- list_keys --
SELECT prefix, name, role, spaces, created_at, expires_at, revoked_at FROM api_keys
 WHERE tenant_id = %(tenant_id)s ORDER BY created_at, prefix;

-- revoke_key --
UPDATE api_keys SET revoked_at = now()
 WHERE tenant_id = %(tenant_id)s AND prefix = %(prefix)s AND revoked_at IS NULL;

-- purge_expired --
DELETE FROM api_keys WHERE tenant_id = %(tenant_id)s AND expires_at < now() - interval '1 day';

-- add_tenant --
INSERT INTO tenants (id, name, created_at) VALUES (%(id)s, %(name)s, now()) ON CONFLICT (name) DO NOTHING;

-- find_tenant --
SELECT id FROM tenants WHERE name = %(name)s;
