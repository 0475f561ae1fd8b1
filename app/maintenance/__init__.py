"""Work off the path: applying what assemblies proposed, purging what has run out.

Pure decisions and one shell; imports the entries' use case and the domain.
"""
