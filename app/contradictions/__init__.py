"""Claims, contradictions between memories, and which of two holds.

Owns what a short text asserts (`claims`), which two texts cannot both hold (`detect`) and which
of them is served (`resolve`). Imports `app.domain` and, for the numbers that stand for words,
`app.text`; the words of each language are data (`data/*.toml`). The one idea: similarity only narrows
the search, wording and claims decide.
"""
