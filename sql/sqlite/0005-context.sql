-- Context: what agents keep for later, by drive and path, and what finds it again.

CREATE TABLE toolwright_context_items (
  id            INTEGER PRIMARY KEY AUTOINCREMENT,
  drive         TEXT NOT NULL,
  path          TEXT NOT NULL,            -- begins with /, has no empty, . or .. segment
  version       INTEGER NOT NULL,         -- raised by every change of the content
  bytes         INTEGER NOT NULL,
  sha256        TEXT NOT NULL,
  source        TEXT,                     -- a file below the root or a URL, which a refresh reads again
  created_at_ms INTEGER NOT NULL,
  updated_at_ms INTEGER NOT NULL,
  content       TEXT NOT NULL,            -- last, so that reading the others does not read it
  UNIQUE (drive, path)
);

-- What a call has written, by its idempotency key: the same call made again writes no second version.
CREATE TABLE toolwright_context_writes (
  key     TEXT PRIMARY KEY,
  version INTEGER NOT NULL,
  created INTEGER NOT NULL,
  changed INTEGER NOT NULL
) WITHOUT ROWID;

-- Parts of an item, as far as one hit of a search shows. Ids are never used again: an index may know old ones.
CREATE TABLE toolwright_context_chunks (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  item_id    INTEGER NOT NULL REFERENCES toolwright_context_items (id) ON DELETE CASCADE,
  position   INTEGER NOT NULL,
  start_char INTEGER NOT NULL,            -- in characters, as substr counts
  chars      INTEGER NOT NULL,
  start_line INTEGER NOT NULL,            -- from 1
  words      TEXT NOT NULL,               -- folded, with a space around each
  is_indexed INTEGER NOT NULL DEFAULT 0,  -- the FTS5 table is made by the first process whose SQLite has FTS5
  UNIQUE (item_id, position)
);
CREATE INDEX toolwright_context_chunks_unindexed ON toolwright_context_chunks (id) WHERE is_indexed = 0;

CREATE TABLE toolwright_context_embeddings (
  chunk_id   INTEGER PRIMARY KEY REFERENCES toolwright_context_chunks (id) ON DELETE CASCADE,
  model      TEXT NOT NULL,
  dimensions INTEGER NOT NULL,
  vector     TEXT NOT NULL                -- 32-bit floats of length 1, in base64
);
