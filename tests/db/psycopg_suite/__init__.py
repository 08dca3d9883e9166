"""psycopg's own asynchronous tests, run on trio against `fxtrio.db.psycopg_trio`."""
