"""Turns: what was said is stored at once and for good, and worked on in the background.

Imports the domain and the text rules; everything else is a port (`ports.py`). The one idea: a turn and its jobs are
stored in one transaction, and every job brings what is derived up to what was said, however often it runs.
"""
