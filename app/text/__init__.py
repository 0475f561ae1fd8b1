"""What can be said of a text without knowing whose it is: words, stems, language, token counts.

Imports the standard library and pure text libraries (regex, PyStemmer, py3langid, tiktoken), never
the environment, the network or the database. The one idea: the same text gives the same terms and
the same counts on every machine, because what is stored is compared with what is asked.
"""
