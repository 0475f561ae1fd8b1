"""Spaces in memory: an index of the live entries, kept beside the database and checked against it at every use."""
