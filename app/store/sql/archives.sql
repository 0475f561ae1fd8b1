-- lock --
-- What is moved to the archive, looked for in it or taken out of it: one after another in a tenant.
SELECT pg_advisory_xact_lock(hashtextextended('archives ' || %(tenant_id)s::text, 0));

-- note --
INSERT INTO archives (tenant_id, space_id, name)
SELECT %(tenant_id)s, s.id, %(name)s FROM unnest(%(space_ids)s::uuid[]) AS s(id)
    ON CONFLICT DO NOTHING;

-- of_space --
SELECT name FROM archives WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s ORDER BY name;

-- known --
SELECT DISTINCT name FROM archives WHERE tenant_id = %(tenant_id)s AND name = ANY(%(names)s::text[]);

-- rested_on --
-- The messages that some entries rest on, and their turns.
SELECT DISTINCT turn, message FROM memory_evidence
 WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s AND entry = ANY(%(ids)s::uuid[]) AND content IS NOT NULL;

-- add_cut --
-- One that is there already takes up what is new: texts are cut as they will be once it is done.
INSERT INTO archive_cuts AS c (tenant_id, space_id, name, turn, messages, receipts)
VALUES (%(tenant_id)s, %(space_id)s, %(name)s, %(turn)s, %(messages)s, ARRAY[%(receipt)s::uuid])
    ON CONFLICT (tenant_id, space_id, name, turn)
    DO UPDATE SET messages = c.messages || excluded.messages, receipts = c.receipts || excluded.receipts;

-- cuts_of_file --
SELECT space_id, turn, messages FROM archive_cuts WHERE tenant_id = %(tenant_id)s AND name = %(name)s;

-- next_file --
SELECT min(name) AS name FROM archive_cuts WHERE tenant_id = %(tenant_id)s;

-- drop_cuts --
DELETE FROM archive_cuts WHERE tenant_id = %(tenant_id)s AND name = %(name)s;

-- drop_file --
DELETE FROM archives WHERE tenant_id = %(tenant_id)s AND name = %(name)s;

-- left --
-- Files out of which something is still to be taken because of a receipt.
SELECT count(DISTINCT name) AS files FROM archive_cuts
 WHERE tenant_id = %(tenant_id)s AND %(receipt)s::uuid = ANY(receipts);
