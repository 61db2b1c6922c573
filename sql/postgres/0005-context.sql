-- Context: what agents keep for later, by drive and path, and what finds it again.

-- By bytes, as SQLite compares, so that both stores list in one order.
CREATE TABLE toolwright_context_items (
  id            BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  drive         TEXT COLLATE "C" NOT NULL,
  path          TEXT COLLATE "C" NOT NULL, -- begins with /, has no empty, . or .. segment
  version       BIGINT NOT NULL,           -- raised by every change of the content
  bytes         BIGINT NOT NULL,
  sha256        TEXT NOT NULL,
  source        TEXT,                      -- a file below the root or a URL, which a refresh reads again
  created_at_ms BIGINT NOT NULL,
  updated_at_ms BIGINT NOT NULL,
  content       TEXT NOT NULL,
  UNIQUE (drive, path)
);

-- What a call has written, by its idempotency key: the same call made again writes no second version.
CREATE TABLE toolwright_context_writes (
  key     TEXT PRIMARY KEY,
  version BIGINT NOT NULL,
  created BIGINT NOT NULL,
  changed BIGINT NOT NULL
);

-- Parts of an item, as far as one hit of a search shows.
CREATE TABLE toolwright_context_chunks (
  id         BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  item_id    BIGINT NOT NULL REFERENCES toolwright_context_items (id) ON DELETE CASCADE,
  position   BIGINT NOT NULL,
  start_char BIGINT NOT NULL,              -- in characters, as substr counts
  chars      BIGINT NOT NULL,
  start_line BIGINT NOT NULL,              -- from 1
  words      TSVECTOR NOT NULL,
  UNIQUE (item_id, position)
);
CREATE INDEX toolwright_context_chunks_words ON toolwright_context_chunks USING GIN (words);

CREATE TABLE toolwright_context_embeddings (
  chunk_id   BIGINT PRIMARY KEY REFERENCES toolwright_context_chunks (id) ON DELETE CASCADE,
  model      TEXT NOT NULL,
  dimensions BIGINT NOT NULL,
  vector     TEXT NOT NULL                 -- 32-bit floats of length 1, in base64
);
