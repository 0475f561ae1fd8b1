"""Wire models: what JSON looks like. Unknown fields are refused; every limit has one home.

May import the domain and the use cases, whose records they turn into.
"""
