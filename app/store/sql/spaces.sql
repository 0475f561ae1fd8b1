-- lock_space --
-- Take the space for this transaction, making it if need be. Writes of one space follow one another, so
-- that claims, statistics and sequence need no further care. Returns the last sequence, and the time of this
-- write: read under the lock, and later than that of any write before, whatever the clock says. And the model that
-- serves the space.
INSERT INTO spaces (tenant_id, id, name, created_at, written_at)
VALUES (%(tenant_id)s, %(space_id)s, %(name)s, now(), clock_timestamp())
    ON CONFLICT (tenant_id, id) DO UPDATE
   SET written_at = greatest(clock_timestamp(), spaces.written_at + interval '1 microsecond')
RETURNING sequence, written_at AS now, model_id;

-- model_of --
SELECT coalesce((SELECT model_id FROM spaces WHERE tenant_id = %(tenant_id)s AND id = %(space_id)s), current_model());

-- list_spaces --
-- Spaces of a tenant by name, with the live entries of every tier.
SELECT s.name, s.created_at,
       (SELECT coalesce(jsonb_object_agg(t.tier, t.documents), '{}') FROM tier_statistics t
         WHERE t.tenant_id = s.tenant_id AND t.space_id = s.id) AS documents
  FROM spaces s
 WHERE s.tenant_id = %(tenant_id)s
   AND (%(names)s::text[] IS NULL OR s.name = ANY(%(names)s::text[]))
   AND (%(after)s::text IS NULL OR s.name > %(after)s::text)
 ORDER BY s.name
 LIMIT %(limit)s;
