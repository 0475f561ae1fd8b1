"""Records: structured state beside memory (requests, relations, notes, what a channel has, jokes).

The one idea: a record is changed by explicit calls only, so it is believed before any memory.
"""
