-- best --
-- Of each category the memories that hold now: the most important first, then the last confirmed.
SELECT ranked.*, s.name AS space
  FROM (SELECT e.*,
               row_number() OVER (PARTITION BY category
                                  ORDER BY coalesce(importance, 0.5) DESC, last_confirmed_at DESC, id DESC) AS place,
               count(*) OVER (PARTITION BY category) AS total
          FROM entry_versions e
         WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND tier_key = tier_key('memories'::tier)
           AND closed_at IS NULL AND status = 'active' AND scope = ANY(%(scopes)s::text[])
           AND (valid_from IS NULL OR valid_from <= %(now)s) AND (valid_to IS NULL OR valid_to > %(now)s)) AS ranked
  JOIN spaces s ON s.tenant_id = ranked.tenant_id AND s.id = ranked.space_id
 WHERE ranked.place <= %(limit)s
 ORDER BY ranked.category, ranked.place;
