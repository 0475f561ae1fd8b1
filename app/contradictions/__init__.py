"""Claims, contradictions between memories, and which of two holds.

Owns what a short text asserts (`claims`), which two texts cannot both hold (`detect`) and which
of them is served (`resolve`). Imports `app.domain` alone; the words of each language are data
(`data/*.toml`). The one idea: similarity only narrows the search, wording and claims decide.
"""
