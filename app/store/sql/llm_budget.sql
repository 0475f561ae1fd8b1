-- take --
-- Nothing is written when the day's tokens would be more than the limit.
INSERT INTO llm_usage (tenant_id, day, tokens)
SELECT %(tenant_id)s, %(day)s, %(tokens)s WHERE %(tokens)s <= %(limit)s
    ON CONFLICT (tenant_id, day) DO UPDATE
   SET tokens = llm_usage.tokens + excluded.tokens
 WHERE llm_usage.tokens + excluded.tokens <= %(limit)s;

-- correct --
UPDATE llm_usage SET tokens = greatest(0, tokens + %(tokens)s)
 WHERE tenant_id = %(tenant_id)s AND day = %(day)s;

-- purge --
DELETE FROM llm_usage WHERE tenant_id = %(tenant_id)s AND day < %(day)s;
