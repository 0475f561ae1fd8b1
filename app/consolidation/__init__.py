"""Keeping a space in order: what is said twice is merged, what no longer holds gives way, what faded is put away.

Pure decisions (`blocks`, `duplicates`, `conflicts`, `decay`, `apply`) and one shell (`service`). The one idea: a plan
is made from what was seen, and applied in small transactions, each only as far as it is still as it was seen.
May import the entries' and the assembly's rules, never an adapter.
"""
