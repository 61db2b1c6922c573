/**
 * The minimum cost of a durable call: one row, written before and updated after, each committed on its own. Two forms: with keys
 * and transactions like ours, and lean.
 */
import { hash } from "node:crypto";
import { DatabaseSync } from "node:sqlite";

export interface BareJournal {
  call(input: unknown, execute: () => unknown): void;
  close(): void;
}

/** @param full Whether the intent survives a power loss. */
export function openBareJournal(path: string, full: boolean): BareJournal {
  const database = new DatabaseSync(path);
  database.exec("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL");
  database.exec(
    "CREATE TABLE calls (key TEXT PRIMARY KEY, run TEXT, tool TEXT, status TEXT, input TEXT, output TEXT, started INTEGER, finished INTEGER)",
  );
  const begin = database.prepare("BEGIN IMMEDIATE");
  const commit = database.prepare("COMMIT");
  const toFull = database.prepare("PRAGMA synchronous=FULL");
  const toNormal = database.prepare("PRAGMA synchronous=NORMAL");
  const insert = database.prepare(
    "INSERT INTO calls (key, run, tool, status, input, started) VALUES (?1, ?2, ?3, 'started', ?4, ?5)",
  );
  const update = database.prepare(
    "UPDATE calls SET status = 'success', output = ?2, finished = ?3 WHERE key = ?1",
  );
  return {
    call(input, execute) {
      const text = JSON.stringify(input);
      const key = hash("sha256", text, "base64url");
      if (full) toFull.run();
      begin.run();
      insert.run(key, "bench", "order", text, Date.now());
      commit.run();
      const output = execute();
      if (full) toNormal.run();
      begin.run();
      update.run(key, JSON.stringify(output), Date.now());
      commit.run();
    },
    close: () => database.close(),
  };
}

/**
 * A journal without anything that can be left out. Its rows have sequential numbers, so it hashes nothing, its table only grows
 * at the end, and it cannot find a call again. Each statement commits by itself, without `BEGIN` and `COMMIT`. It checks no
 * owner and no duplicate.
 * @param full Whether the intent survives a power loss.
 */
export function openLeanJournal(path: string, full: boolean): BareJournal {
  const database = new DatabaseSync(path);
  database.exec("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL");
  database.exec(
    "CREATE TABLE calls (id INTEGER PRIMARY KEY, run TEXT, tool TEXT, status TEXT, input TEXT, output TEXT, started INTEGER, finished INTEGER)",
  );
  const toFull = database.prepare("PRAGMA synchronous=FULL");
  const toNormal = database.prepare("PRAGMA synchronous=NORMAL");
  const insert = database.prepare(
    "INSERT INTO calls (id, run, tool, status, input, started) VALUES (?, ?, ?, 'started', ?, ?)",
  );
  const update = database.prepare(
    "UPDATE calls SET status = 'success', output = ?, finished = ? WHERE id = ?",
  );
  let calls = 0;
  return {
    call(input, execute) {
      calls += 1;
      if (full) toFull.run();
      insert.run(calls, "bench", "order", JSON.stringify(input), Date.now());
      const output = execute();
      if (full) toNormal.run();
      update.run(JSON.stringify(output), Date.now(), calls);
    },
    close: () => database.close(),
  };
}
