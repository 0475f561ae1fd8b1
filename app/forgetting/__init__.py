"""Forgetting: erases what is named exactly, all of it, and gives a receipt that can be checked.

Decides nothing by likeness: an id, an exact text, an author, a time. Imports entries and domain. The one idea: what
holds a space's data is read from the database's catalogue, so that a table that is added later is erased as well.
"""
