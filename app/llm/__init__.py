"""Language models behind an OpenAI-compatible endpoint: asked with a deadline, their answers taken for text.

Implements the ports of the packages that ask (`app.extraction.ports`). The one idea: a model is never needed; whatever
goes wrong is one error, after which the rules stand in.
"""
