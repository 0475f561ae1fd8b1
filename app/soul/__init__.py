"""Soul blocks, the named pieces of an agent's identity: versions, order, activation, limits.

One shell (`service.py`) over a port; imports the domain and the text package.
"""
