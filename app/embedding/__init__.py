"""Backends of the embedder port: text in, unit vectors out.

Imports numpy, httpx, one library per backend, `app.domain` and `app.text`. The one idea: a model runs in
a thread of its own that takes what waits in batches, questions first, so that neither the event loop nor
a question ever waits for an import; a model behind a server is asked with a deadline, and left alone
while it does not answer. `models.py` declares the models, `factory.py` builds the backends.
"""
