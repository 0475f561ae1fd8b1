"""Language models behind an OpenAI-compatible endpoint: asked by workers only, with a deadline, never by an assembly.

Implements the ports of the packages that ask. The one idea: a model is never needed, and what it says is checked like
anybody's input; whatever goes wrong is one error, after which the rules stand in.
"""
