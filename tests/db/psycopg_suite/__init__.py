"""psycopg's own asynchronous tests, run on trio against `fxtrio.db.postgresql.psycopg_trio`."""
