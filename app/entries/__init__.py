"""Writing and reading entries: create, edit, delete, history, undo, search.

Pure decisions (`decide.py`), and one shell (`service.py`) that embeds, locks the space and writes. The one
idea: writes of a space follow one another, so a decision made under its lock cannot be overtaken.
"""
