"""Moving a live store from one embedding model to another, space by space, while it serves.

May import `domain` only. The one idea: a space is served by exactly one model, and changes to another in one
transaction that begins when no vector of the other is missing.
"""
