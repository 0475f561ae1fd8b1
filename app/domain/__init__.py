"""Records, ids and errors that every package shares.

Imports nothing but the standard library, and does no I/O. The one idea: a value
that breaks an invariant cannot be built.
"""
