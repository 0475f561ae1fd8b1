-- secret --
SELECT secret FROM tenant_secrets WHERE tenant_id = %(tenant_id)s;

-- make_secret --
-- 244 random bits.
INSERT INTO tenant_secrets (tenant_id, secret)
VALUES (%(tenant_id)s, decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'))
    ON CONFLICT DO NOTHING;

-- find --
SELECT digest, entry, created_at FROM tombstones
 WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND digest = ANY(%(digests)s::bytea[]);

-- erased --
SELECT digest, max(created_at) FROM tombstones
 WHERE tenant_id = %(tenant_id)s AND space_id = ANY(%(space_ids)s::uuid[]) AND kind = 'erased'
 GROUP BY digest;

-- bury --
INSERT INTO tombstones (tenant_id, space_id, digest, kind, entry, created_at)
SELECT %(tenant_id)s, %(space_id)s, t.digest, t.kind, t.entry, %(now)s
  FROM unnest(%(digests)s::bytea[], %(kinds)s::text[], %(entries)s::uuid[]) AS t(digest, kind, entry)
    ON CONFLICT (tenant_id, space_id, digest, kind) DO UPDATE
   SET entry = excluded.entry, created_at = excluded.created_at;

-- exhume_by --
DELETE FROM tombstones
 WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND kind = 'corrected' AND entry = ANY(%(entries)s::uuid[]);

-- exhume --
DELETE FROM tombstones
 WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND digest = ANY(%(digests)s::bytea[]);
