"""Measures what is found and what reaches the prompt, on public data. `make eval`; evals/README.md explains it.

Stands beside `app` and uses what its doors use: the runtime, the services and their records. The one idea: the
same documents and questions go through the real pipeline and through plain BM25, and one function scores both.
"""
