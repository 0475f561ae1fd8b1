"""Five signals, their fixed weights, and the score.

Pure; imports only the domain. The one idea: relevance dominates, the others decide where it ties.
"""
