-- add_assembly --
INSERT INTO assemblies (tenant_id, space_id, id, created_at, request, outcome)
VALUES (%(tenant_id)s, %(space_id)s, %(id)s, %(created_at)s, %(request)s::jsonb, %(outcome)s::jsonb)
    ON CONFLICT DO NOTHING;

-- count_uses --
-- One use per session; without one, per day. Rows in a fixed order, so that two writers cannot deadlock.
INSERT INTO entry_uses (tenant_id, space_id, id, uses, last_session)
SELECT %(tenant_id)s, used.space_id, used.id, 1, %(session)s
  FROM unnest(%(space_ids)s::uuid[], %(ids)s::uuid[]) AS used(space_id, id)
 ORDER BY used.space_id, used.id
    ON CONFLICT (tenant_id, space_id, id) DO UPDATE
   SET uses = entry_uses.uses + 1, last_session = excluded.last_session
 WHERE entry_uses.last_session <> excluded.last_session
RETURNING space_id, id, uses;

-- add_proposal --
-- A proposal follows the versions that were seen last.
INSERT INTO supersession_proposals (
    tenant_id, space_id, kept, kept_version, superseded, superseded_version, why, proposed_at)
VALUES (%(tenant_id)s, %(space_id)s, %(kept)s, %(kept_version)s, %(superseded)s, %(superseded_version)s, %(why)s,
        %(proposed_at)s)
    ON CONFLICT (tenant_id, space_id, superseded, kept) DO UPDATE
   SET kept_version = excluded.kept_version, superseded_version = excluded.superseded_version;

-- find_assembly --
SELECT a.id, a.space_id, s.name AS space, a.created_at, a.request, a.outcome
  FROM assemblies a
  LEFT JOIN spaces s ON s.tenant_id = a.tenant_id AND s.id = a.space_id
 WHERE a.tenant_id = %(tenant_id)s AND a.space_id = %(space_id)s AND a.id = %(id)s;

-- list_assemblies --
-- Newest first.
SELECT a.id, a.space_id, s.name AS space, a.created_at, a.request, a.outcome
  FROM assemblies a
  LEFT JOIN spaces s ON s.tenant_id = a.tenant_id AND s.id = a.space_id
 WHERE a.tenant_id = %(tenant_id)s AND a.space_id = %(space_id)s AND (%(before)s::uuid IS NULL OR a.id < %(before)s::uuid)
 ORDER BY a.id DESC
 LIMIT %(limit)s;

-- logged_entries --
SELECT e.*, s.name AS space
  FROM unnest(%(space_ids)s::uuid[], %(ids)s::uuid[], %(versions)s::int[]) AS wanted(space_id, id, version)
  JOIN entry_versions e
    ON e.tenant_id = %(tenant_id)s AND e.space_id = wanted.space_id AND e.id = wanted.id AND e.version = wanted.version
  JOIN spaces s ON s.tenant_id = e.tenant_id AND s.id = e.space_id;

-- logged_blocks --
SELECT b.space_id, b.id, b.version, b.name, b.text, b.position, b.active, b.recorded_at, b.reason
  FROM unnest(%(space_ids)s::uuid[], %(ids)s::uuid[], %(versions)s::int[]) AS wanted(space_id, id, version)
  JOIN soul_blocks b
    ON b.tenant_id = %(tenant_id)s AND b.space_id = wanted.space_id AND b.id = wanted.id AND b.version = wanted.version;

-- logged_records --
SELECT r.*, s.name AS space
  FROM unnest(%(space_ids)s::uuid[], %(ids)s::uuid[], %(versions)s::int[]) AS wanted(space_id, id, version)
  JOIN record_versions r
    ON r.tenant_id = %(tenant_id)s AND r.space_id = wanted.space_id AND r.id = wanted.id AND r.version = wanted.version
  JOIN spaces s ON s.tenant_id = r.tenant_id AND s.id = r.space_id;

-- purge_assemblies --
DELETE FROM assemblies
 WHERE tenant_id = %(tenant_id)s AND created_at < now() - make_interval(days => %(days)s);
