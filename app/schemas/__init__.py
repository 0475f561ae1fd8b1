"""Wire models: what JSON looks like. Unknown fields are refused; every limit has one home.

Pydantic only; may import the domain, whose records they turn into.
"""
