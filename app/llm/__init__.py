"""A language model behind an OpenAI-compatible endpoint: asked by workers only, never by an assembly.

The one idea: what it says is checked like anybody's input, and what is not right is not used.
"""
