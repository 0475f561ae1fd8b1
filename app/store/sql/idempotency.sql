-- find --
SELECT fingerprint, outcome FROM idempotency_keys
 WHERE tenant_id = %(tenant_id)s AND key = %(key)s AND created_at > now() - interval '24 hours';

-- keep --
-- A key that ran out is taken over.
INSERT INTO idempotency_keys (tenant_id, key, fingerprint, outcome, created_at)
VALUES (%(tenant_id)s, %(key)s, %(fingerprint)s, %(outcome)s::jsonb, now())
    ON CONFLICT (tenant_id, key) DO UPDATE
   SET fingerprint = excluded.fingerprint, outcome = excluded.outcome, created_at = excluded.created_at;

-- purge --
DELETE FROM idempotency_keys WHERE tenant_id = %(tenant_id)s AND created_at <= now() - interval '24 hours';
