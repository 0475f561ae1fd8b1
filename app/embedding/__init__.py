"""Backends of the embedder port: text in, unit vectors out.

Imports numpy, one library per backend, `app.domain` and `app.text`. The one idea: a model runs in a
thread of its own that takes what waits in batches, questions first, so that neither the event loop nor
a question ever waits for an import.
"""
