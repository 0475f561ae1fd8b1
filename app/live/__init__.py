"""Memory for a live chat: from a batch of messages by many people to one prompt.

Rules that look at what can be observed decide whose memory is read and which other sources (`signals.py`, `planner.py`,
pure); one shell (`service.py`) reads side by side, and hands all of it to the pipeline of `app/assembly`.
"""
