/** `toolwright doctor --bench`: what it reports, what it advises, and that it leaves nothing behind. Never how fast. */
import { mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { describe, expect, test } from "vitest";
import { fileSystemOfType } from "../../src/operate/machine/file-system.ts";
import { measureMachine } from "../../src/operate/machine/measure-machine.ts";
import { judge, type Measurement } from "../../src/operate/machine/measurement.ts";
import { inSchema } from "../../src/operate/machine/postgres-speed.ts";
import { freshPostgres } from "../postgres/fresh-postgres.ts";
import { createFolder, toolwright } from "../cli/command.ts";

const BUDGET_MS = 5;
const namesOf = (measurements: readonly Measurement[]): string[] => measurements.map(({ name }) => name);

function expectMeasured(measurements: readonly Measurement[]): void {
  for (const { name, ms, samples, status, detail } of measurements) {
    if (name === "sandbox" && ms === null) continue;
    expect(ms, detail).toBeGreaterThan(0);
    expect(samples).toBeGreaterThanOrEqual(3);
    expect(["ok", "note"]).toContain(status);
    expect(detail).toMatch(/^[\d.]+ (?:µs|ms) for /);
  }
}

describe("measures", () => {
  test("commits, calls and the sandbox next to a SQLite store, which it does not create", async () => {
    const folder = mkdtempSync(join(tmpdir(), "toolwright-machine-"));
    const measurements = await measureMachine(join(folder, "app.db"), BUDGET_MS);
    expect(namesOf(measurements)).toEqual(["commit", "commit-full", "call", "side-effect", "sandbox"]);
    expectMeasured(measurements);
    expect(readdirSync(folder)).toEqual([]);
  });

  test("the way to PostgreSQL too, in a schema that it drops", async () => {
    const address = await freshPostgres();
    const measurements = await measureMachine(address, BUDGET_MS);
    expect(namesOf(measurements)).toEqual([
      "round-trip",
      "commit",
      "commit-full",
      "call",
      "side-effect",
      "sandbox",
    ]);
    expectMeasured(measurements);
    const client = new Client({ connectionString: address });
    await client.connect();
    const { rows } = await client.query(
      "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'toolwright%' UNION SELECT tablename FROM pg_tables WHERE schemaname = 'public'",
    );
    await client.end();
    expect(rows).toEqual([]);
  });

  test("only calls without a schema, if the user cannot create one", async () => {
    const address = new URL(await freshPostgres());
    const owner = new Client({ connectionString: address.href });
    await owner.connect();
    await owner.query("CREATE ROLE reader LOGIN PASSWORD 'reader'");
    await owner.end();
    address.username = "reader";
    address.password = "reader";
    const measurements = await measureMachine(address.href, BUDGET_MS);
    expect(measurements.find(({ name }) => name === "round-trip")?.ms).toBeGreaterThan(0);
    expect(measurements.find(({ name }) => name === "call")).toMatchObject({
      ms: null,
      status: "note",
      detail: expect.stringContaining("permission denied"),
      remedy: expect.stringContaining("GRANT CREATE ON DATABASE"),
    });
  });

  test("what it can, if the store cannot be reached", async () => {
    for (const store of ["/nonexistent/folder/app.db", "postgres://127.0.0.1:1/none"]) {
      const [first, sandbox] = await measureMachine(store, BUDGET_MS);
      expect(first, store).toMatchObject({ name: "commit", ms: null, status: "note" });
      expect(sandbox?.name).toBe("sandbox");
    }
  });
});

test("a slow measurement has an advice, a fast one has none", () => {
  const question = { name: "commit", what: "one commit", slowMs: 2, advice: "Move the store." } as const;
  expect(judge(question, { medianMs: 12.3, count: 9 })).toEqual({
    name: "commit",
    ms: 12.3,
    samples: 9,
    status: "note",
    detail: "12 ms for one commit, the median of 9: slower than 2.00 ms",
    remedy: "Move the store.",
  });
  expect(judge(question, { medianMs: 0.05, count: 9 })).toMatchObject({
    status: "ok",
    detail: "50 µs for one commit, the median of 9",
    remedy: null,
  });
});

test("knows network disks and memory by the number of the file system", () => {
  expect(fileSystemOfType(0x6969, "linux")).toEqual({ kind: "network", name: "NFS" });
  expect(fileSystemOfType(0xff534d42 | 0, "linux")).toEqual({ kind: "network", name: "CIFS" });
  expect(fileSystemOfType(0x01021994, "linux")).toEqual({ kind: "memory" });
  expect(fileSystemOfType(0xef53, "linux")).toEqual({ kind: "disk" });
  expect(fileSystemOfType(0x6969, "darwin")).toEqual({ kind: "disk" });
});

test("adds the schema to the options of an address", () => {
  expect(inSchema("postgres://h/app", "s")).toBe("postgres://h/app?options=-c%20search_path%3Ds");
  expect(inSchema("postgres://h/app?options=-c%20jit%3Doff&sslmode=require", "s")).toBe(
    "postgres://h/app?options=-c%20jit%3Doff%20-c%20search_path%3Ds&sslmode=require",
  );
});

test("the command prints the measurements and advice, and the checks decide its exit code", async () => {
  const folder = createFolder();
  const { code, json, stderr } = await toolwright(folder, ["doctor", "--bench", "--json"]);
  expect(stderr).toBe("");
  expect(code).toBe(0);
  expect(json()).toMatchObject({
    ok: true,
    checks: expect.any(Array),
    bench: ["commit", "commit-full", "call", "side-effect", "sandbox"].map((name) =>
      expect.objectContaining({ name, samples: expect.any(Number), detail: expect.any(String) }),
    ),
  });
  expect(readdirSync(folder)).toEqual([]);
});
