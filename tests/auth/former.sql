-- A file of accounts as fxtrio made it before accounts could be in the app's database.
CREATE TABLE users (
  id TEXT NOT NULL PRIMARY KEY, email TEXT NOT NULL UNIQUE,
  password_hash TEXT NOT NULL, created_at REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE sessions (
  key BLOB NOT NULL PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  created_at REAL NOT NULL, expires_at REAL NOT NULL, ends_at REAL NOT NULL,
  persistent INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX sessions_of_user ON sessions (user_id, created_at);
CREATE INDEX sessions_by_end ON sessions (expires_at);
CREATE TABLE marks (key TEXT NOT NULL PRIMARY KEY, empty_at REAL NOT NULL) WITHOUT ROWID;
CREATE INDEX marks_by_end ON marks (empty_at);
CREATE TABLE pending (
  key BLOB NOT NULL PRIMARY KEY, email TEXT NOT NULL,
  password_hash TEXT NOT NULL, expires_at REAL NOT NULL
) WITHOUT ROWID;
CREATE INDEX pending_by_end ON pending (expires_at);
CREATE INDEX pending_by_email ON pending (email);
PRAGMA user_version = 2;
