"""What of a message is worth remembering: proposals of memories, by rules or by a model.

Owns the rules (`data/*.toml`, `rules`), what they see of a message (`clauses`), and what is asked of a model and
believed of its answer (`model`). Imports `app.domain`, `app.text` and, for claims, `app.contradictions`; stores
nothing. The one idea: a wrong memory costs more than a missed one, so only what somebody plainly says of themselves
counts, in their own words, and every proposal names the characters of the message that support it.
"""
