"""The inspector: a page in the browser that shows a store through the public API.

It owns `static/`, which the service hands out as it stands (no build step), and the headers that keep it harmless. It
imports nothing of Ricordo: what the page knows it asks of the API, with the key of whoever looks
(docs/decisions/020-inspector.md).
"""
