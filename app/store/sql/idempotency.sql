-- find --
SELECT fingerprint, outcome FROM idempotency_keys
 WHERE tenant_id = %(tenant_id)s AND key = %(key)s AND created_at > now() - interval '24 hours';

-- keep --
-- A key that ran out is taken over; one that a writer of another space has kept in the meantime is not.
INSERT INTO idempotency_keys (tenant_id, key, fingerprint, outcome, created_at)
VALUES (%(tenant_id)s, %(key)s, %(fingerprint)s, %(outcome)s::jsonb, now())
    ON CONFLICT (tenant_id, key) DO UPDATE
   SET fingerprint = excluded.fingerprint, outcome = excluded.outcome, created_at = excluded.created_at
 WHERE idempotency_keys.created_at <= now() - interval '24 hours';

-- purge --
DELETE FROM idempotency_keys WHERE tenant_id = %(tenant_id)s AND created_at <= now() - interval '24 hours';
