"""The database: the embedded server, the pool, every statement and the rows' mapping.

Imports psycopg and the packages below it, and is imported by `runtime` and `cli` alone. The one idea:
statements live in `sql/<aggregate>.sql`, Python binds and maps, and the caller owns the transaction.
"""
