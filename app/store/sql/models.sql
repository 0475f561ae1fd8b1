-- models --
SELECT id, name, dimensions, mean, question_shift FROM embedding_models ORDER BY id;

-- add_model --
INSERT INTO embedding_models (name, dimensions, mean, question_shift, created_at)
VALUES (%(name)s, %(dimensions)s, %(mean)s, %(question_shift)s, now())
    ON CONFLICT (name) DO NOTHING;
