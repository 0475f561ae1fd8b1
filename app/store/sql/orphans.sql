-- quoting --
-- Episodes made of turns or conversations that are not made anew, and which hold one of some texts in any version, in
-- what they say or in what was said before it; in some sessions, or all.
SELECT e.*, s.name AS space
  FROM entry_versions e
  JOIN spaces s ON s.tenant_id = e.tenant_id AND s.id = e.space_id
  JOIN derived_entries d ON d.tenant_id = e.tenant_id AND d.space_id = e.space_id AND d.id = e.id
 WHERE e.tenant_id = %(tenant_id)s AND e.space_id = %(space_id)s AND e.closed_at IS NULL
   AND e.tier_key = tier_key('episodes'::tier)
   AND (%(sessions)s::text[] IS NULL OR e.session = ANY(%(sessions)s::text[]))
   AND e.id <> ALL(%(revised)s::uuid[])
   AND NOT EXISTS (SELECT FROM turns t
                    WHERE t.tenant_id = e.tenant_id AND t.space_id = e.space_id AND t.id = ANY(%(revised)s::uuid[])
                      AND t.conversation = e.id)
   AND EXISTS (SELECT FROM entry_versions v
                CROSS JOIN LATERAL (SELECT regexp_replace(lower(concat_ws(' ', v.text, v.context)), '\s+', ' ', 'g')) AS said(text)
                WHERE v.tenant_id = e.tenant_id AND v.space_id = e.space_id AND v.id = e.id
                  AND EXISTS (SELECT FROM unnest(%(texts)s::text[]) AS t(text) WHERE strpos(said.text, t.text) > 0))
 ORDER BY e.id;

-- personal --
-- What somebody said, turn by turn, as it is kept in their own space.
SELECT e.*, s.name AS space
  FROM entry_versions e
  JOIN spaces s ON s.tenant_id = e.tenant_id AND s.id = e.space_id
 WHERE e.tenant_id = %(tenant_id)s AND e.space_id = %(space_id)s AND e.closed_at IS NULL
   AND e.tier_key = tier_key('episodes'::tier) AND %(tag)s::text = ANY(e.tags)
 ORDER BY e.id;

-- spaces --
SELECT name FROM spaces WHERE tenant_id = %(tenant_id)s AND id = ANY(%(space_ids)s::uuid[]) ORDER BY id;
