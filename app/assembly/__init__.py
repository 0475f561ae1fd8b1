"""The main job: from a request to a system prompt.

Pure stages over frozen records (`pipeline.py`, top to bottom), and one shell (`service.py`) that waits
for the embedder and the store. Imports the rule packages, the text package and the domain.
"""
