"""Corrections: what is to be put right, where it holds, and what to ask when that is not clear.

Reads what somebody said (`reading.py`, words in `data/*.toml`), decides without I/O (`decide.py`), and does it in one
transaction (`service.py`); `view.py` shows a memory to the person whose it is. Imports assembly, entries,
contradictions, text and domain. The one idea: a correction is saved where it was meant to hold, or a question is
asked; nothing is guessed.
"""
