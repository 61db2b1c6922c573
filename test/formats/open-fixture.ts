/** Copies of the stores that earlier versions left, with the world as it was outside. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { Client } from "pg";
import { onTestFinished } from "vitest";
import { freshPostgresSchema } from "../postgres/fresh-postgres.ts";
import type { ProgramInput } from "./programs/calls.ts";
import { type LedgerEntry, openWorld, type World } from "./world.ts";

export interface Fixture {
  readonly world: World;
  /** For the programs that made the store. */
  readonly input: ProgramInput;
  /** What was in the ledger when the store was made. */
  readonly earlier: readonly string[];
  /** What the programs reported that ran to their end. */
  readonly reports: Readonly<Record<string, unknown>>;
}

const FOLDER = join(import.meta.dirname, "0.1");

export const FIXTURES = [
  { name: "SQLite", outside: "outside-sqlite.json", copy: copySqlite },
  { name: "PostgreSQL", outside: "outside-postgres.json", copy: copyPostgres },
] as const;

/** Removed after the test. */
export async function openFixture(kind: (typeof FIXTURES)[number]): Promise<Fixture> {
  const { ledger, reports } = JSON.parse(readFileSync(join(FOLDER, kind.outside), "utf8")) as {
    ledger: LedgerEntry[];
    reports: Record<string, unknown>;
  };
  const world = await openWorld(ledger);
  onTestFinished(() => world[Symbol.asyncDispose]());
  const store = await kind.copy();
  return { world, input: { store, worldUrl: world.url }, earlier: world.effects(), reports };
}

async function copySqlite(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "toolwright-formats-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "store.db");
  writeFileSync(path, gunzipSync(readFileSync(join(FOLDER, "store.db.gz"))));
  return path;
}

async function copyPostgres(): Promise<string> {
  const address = await freshPostgresSchema();
  const client = new Client({ connectionString: address });
  await client.connect();
  try {
    await client.query(readFileSync(join(FOLDER, "postgres.sql"), "utf8"));
  } finally {
    await client.end();
  }
  return address;
}
