-- Version 2: registrations whose address has not answered yet.

CREATE TABLE pending (
  key BLOB NOT NULL PRIMARY KEY,
  email TEXT NOT NULL,
  password_hash TEXT NOT NULL,
  expires_at REAL NOT NULL
) WITHOUT ROWID;

CREATE INDEX pending_by_end ON pending (expires_at);
CREATE INDEX pending_by_email ON pending (email)
