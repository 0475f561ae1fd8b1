-- What changed in a space since a given write: for indexes that processes keep in memory (app/store/resident).
CREATE INDEX entry_versions_sequence ON entry_versions (tenant_id, space_id, sequence);
