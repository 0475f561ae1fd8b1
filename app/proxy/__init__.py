"""The memory of an existing application: what a chat request says, what is added to it, what is heard of the answer.

The answer itself goes through untouched. Pure but for `afterwards`, which waits and repeats.
"""
