-- version --
SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS number,
       pg_size_pretty(pg_database_size(current_database())) AS size;

-- extension --
SELECT (SELECT extversion FROM pg_extension WHERE extname = 'vector') AS installed,
       (SELECT default_version FROM pg_available_extensions WHERE name = 'vector') AS available;

-- migration --
SELECT max(version_num) AS version FROM alembic_version;

-- role --
-- The role that serves requests: what it may, and whether who connects can become it.
SELECT rolsuper OR rolbypassrls AS is_unbound, pg_has_role(current_user, oid, 'MEMBER') AS is_ours
  FROM pg_roles WHERE rolname = 'ricordo_serving';

-- unprotected --
-- Tables of people's data on which row-level security is switched off.
SELECT c.relname AS name
  FROM pg_class c
  JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id' AND NOT a.attisdropped
 WHERE c.relkind IN ('r', 'p') AND c.relnamespace = current_schema()::regnamespace AND NOT c.relrowsecurity
 ORDER BY 1;

-- indexes --
-- Every index of ours, and whether it is complete.
SELECT c.relname AS name, i.indisvalid AND i.indisready AS is_valid
  FROM pg_index i
  JOIN pg_class c ON c.oid = i.indexrelid
 WHERE c.relnamespace IN (SELECT oid FROM pg_namespace WHERE nspname IN (current_schema(), 'queue'))
 ORDER BY 1;

-- statistics --
-- Tables about which the planner knows too little: many rows came since they were analysed.
SELECT relname AS name
  FROM pg_stat_user_tables
 WHERE n_mod_since_analyze > greatest(10000, n_live_tup / 2)
 ORDER BY n_mod_since_analyze DESC, relname;

-- model --
SELECT name, dimensions, is_current FROM embedding_models ORDER BY is_current DESC, id;
