-- Sheets of many accounts (a fleet's), and the paths that requests hold.

CREATE TABLE sheet (
    account TEXT PRIMARY KEY,
    version INTEGER NOT NULL CHECK (version > 0),
    bytes BLOB NOT NULL
) STRICT;

CREATE INDEX held ON path (path) WHERE holder IS NOT NULL;
