-- Corrections and wishes to be forgotten that are said in a conversation. docs/decisions/017-corrections.md

-- Where it was said: the turn, the message as it was read, and which of its sentences. `receipt`: of what was forgotten.
ALTER TABLE corrections
    ADD COLUMN turn uuid,
    ADD COLUMN turn_space uuid,
    ADD COLUMN message uuid,
    ADD COLUMN version integer,
    ADD COLUMN key bytea,
    ADD COLUMN said_at timestamptz,
    ADD COLUMN receipt uuid;
CREATE INDEX corrections_said ON corrections (tenant_id, space_id, turn, message, key) WHERE turn IS NOT NULL;

-- Whether what a message says put something right: such evidence is kept by corrections, the other by extraction.
ALTER TABLE memory_evidence ADD COLUMN corrects boolean NOT NULL DEFAULT FALSE;

-- What a person said, in whatever stream: their words are found when they are to be forgotten.
CREATE INDEX messages_personal ON messages (tenant_id, personal_space) WHERE personal_space IS NOT NULL;
