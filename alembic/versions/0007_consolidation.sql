-- Entries that said the same and gave way to this one: they keep their own sources.
ALTER TABLE entry_versions ADD COLUMN merged_from uuid[] NOT NULL DEFAULT '{}';

-- When a space was consolidated last, and up to which write. Only what changed since, or is old, is looked at again.
ALTER TABLE spaces ADD COLUMN consolidated_at timestamptz, ADD COLUMN consolidated_sequence bigint;
