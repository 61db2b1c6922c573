/** `toolwright doctor --bench`: what it reports, what it advises, and that it leaves nothing behind. Never how fast. */
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Client } from "pg";
import { describe, expect, test, vi } from "vitest";
import { adviceAfter } from "../../src/operate/machine/call-speed.ts";
import { fileSystemOfType } from "../../src/operate/machine/file-system.ts";
import { measureMachine } from "../../src/operate/machine/measure-machine.ts";
import { judge, type Measurement, sample } from "../../src/operate/machine/measurement.ts";
import { commitJudgement, inSchema, isTooDistant } from "../../src/operate/machine/postgres-speed.ts";
import { withoutWaiting } from "../../src/operate/store-address.ts";
import { freshPostgres } from "../postgres/fresh-postgres.ts";
import { createFolder, start, toolwright } from "../cli/command.ts";
import { until } from "../semantics/harness.ts";

const BUDGET = { ms: 5 };
const sourceOf = (file: string): string => resolve(import.meta.dirname, "../..", file);
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
    const measurements = await measureMachine(join(folder, "app.db"), BUDGET);
    expect(namesOf(measurements)).toEqual(["commit", "commit-full", "call", "side-effect", "sandbox"]);
    expectMeasured(measurements);
    expect(readdirSync(folder)).toEqual([]);
  });

  test("the way to PostgreSQL too, in a schema that it drops", async () => {
    const address = await freshPostgres();
    const measurements = await measureMachine(address, BUDGET);
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
    const measurements = await measureMachine(address.href, BUDGET);
    expect(measurements.find(({ name }) => name === "round-trip")?.ms).toBeGreaterThan(0);
    expect(measurements.find(({ name }) => name === "call")).toMatchObject({
      ms: null,
      status: "note",
      detail: expect.stringContaining("permission denied"),
      remedy: expect.stringContaining("GRANT CREATE ON DATABASE"),
    });
  });

  test("only calls without a second connection", async () => {
    const address = new URL(await freshPostgres());
    const owner = new Client({ connectionString: address.href });
    await owner.connect();
    const role = `single_${randomBytes(6).toString("hex")}`;
    await owner.query(`CREATE ROLE ${role} LOGIN PASSWORD 'single' CONNECTION LIMIT 1`);
    await owner.query(`GRANT CREATE ON DATABASE ${address.pathname.slice(1)} TO ${role}`);
    address.username = role;
    address.password = "single";
    const measurements = await measureMachine(address.href, BUDGET);
    expect(measurements.map(({ name, ms }) => [name, ms !== null]).slice(0, 5)).toEqual([
      ["round-trip", true],
      ["commit", true],
      ["commit-full", true],
      ["call", false],
      ["side-effect", false],
    ]);
    expect(measurements[3]?.detail).toContain("too many connections");
    const { rows } = await owner.query("SELECT 1 FROM pg_namespace WHERE nspname LIKE 'toolwright%'");
    await owner.end();
    expect(rows).toEqual([]);
  });

  test("only the sandbox, if the check of the store has failed", async () => {
    const storeFailure = { detail: "it does not answer", remedy: "Start it." };
    const measurements = await measureMachine("postgres://127.0.0.1:1/none", { ...BUDGET, storeFailure });
    expect(namesOf(measurements)).toEqual(["commit", "sandbox"]);
    expect(measurements[0]).toMatchObject({
      ms: null,
      status: "note",
      detail: "not measured: it does not answer",
      remedy: "Start it.",
    });
  });

  test("everything else, if the store cannot be reached", async () => {
    for (const store of ["/nonexistent/folder/app.db", "postgres://127.0.0.1:1/none"]) {
      const [first, sandbox] = await measureMachine(store, BUDGET);
      expect(first, store).toMatchObject({ name: "commit", ms: null, status: "note" });
      expect(first?.remedy, store).toMatch(/^(?:Create it|Start the server)/);
      expect(sandbox?.name).toBe("sandbox");
    }
  });

  test("everything else, if there is no folder for temporary files", async () => {
    const folder = createFolder();
    vi.stubEnv("TMPDIR", join(folder, "nowhere"));
    const measurements = await measureMachine(join(folder, "app.db"), BUDGET);
    vi.unstubAllEnvs();
    expect(namesOf(measurements)).toEqual(["commit", "commit-full", "call", "side-effect", "sandbox"]);
    const { ms, detail, remedy } = measurements.at(-1) ?? {};
    expect(ms, detail).toBe(null);
    // Without a sandbox on this machine, there is another reason.
    expect(remedy).toMatch(/TMPDIR|See the check of the sandbox/);
  });

  test("nothing after an abort, and leaves nothing behind", async () => {
    const folder = createFolder();
    const controller = new AbortController();
    const measured = measureMachine(join(folder, "app.db"), { ms: 60_000, signal: controller.signal });
    await until(() => readdirSync(folder).length > 0);
    controller.abort(new Error("enough"));
    await expect(measured).rejects.toThrow("enough");
    expect(readdirSync(folder)).toEqual([]);
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

test("stops when all measurements should be done, after three samples at least", async () => {
  const { count } = await sample({ ms: 60_000, untilMs: performance.now() }, () => undefined);
  expect(count).toBe(3);
});

test("does not blame the disk of a distant database", () => {
  const judged = (medianMs: number): Measurement =>
    judge(commitJudgement("commit", 100), { medianMs, count: 9 });
  expect(judged(104)).toMatchObject({ status: "ok", remedy: null });
  expect(judged(130)).toMatchObject({ status: "note", remedy: expect.stringContaining("disk") });
});

test("does not measure calls in a database where that would take too long", () => {
  const untilMs = performance.now() + 5_000;
  expect(isTooDistant(1, { ms: 1, untilMs })).toBe(false);
  expect(isTooDistant(100, { ms: 1, untilMs })).toBe(true);
  expect(isTooDistant(100, { ms: 1 })).toBe(false);
});

test("explains slow calls by what was slow before", () => {
  const measured = (name: Measurement["name"], status: Measurement["status"]): Measurement => ({
    name,
    status,
    ms: 1,
    samples: 3,
    detail: "",
    remedy: null,
  });
  const [roundTrip, commit] = [measured("round-trip", "note"), measured("commit-full", "note")];
  expect(adviceAfter([roundTrip, commit])).toContain("round trips");
  expect(adviceAfter([measured("round-trip", "ok"), commit])).toContain("advice for commits");
  expect(adviceAfter([measured("commit", "ok")])).toContain("the processor");
});

test("a check of a database does not wait for it, unless its address says so", () => {
  expect(withoutWaiting("app.db")).toBe("app.db");
  expect(withoutWaiting("postgres://h/app")).toBe("postgres://h/app?connectTimeoutMs=5000&retryMs=0");
  expect(withoutWaiting("postgres://h/app?retryMs=9")).toBe(
    "postgres://h/app?retryMs=9&connectTimeoutMs=5000",
  );
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

test("a signal stops the command, which leaves nothing behind", async () => {
  const folder = createFolder();
  const command = start(folder, ["doctor", "--bench"]);
  await until(() => readdirSync(folder).length > 0);
  command.child.kill("SIGINT");
  const { code, stderr } = await command.ended;
  expect(stderr).toMatch(/SIGINT[^]*The measurement was stopped by SIGINT\.\n {2}It left nothing behind\./);
  expect(code).toBe(1);
  expect(readdirSync(folder)).toEqual([]);
});

test("a folder that cannot be written is reported by the check and by the measurement", async () => {
  const folder = createFolder();
  chmodSync(folder, 0o555);
  const script = `
    import { examine } from ${JSON.stringify(sourceOf("src/cli/examine.ts"))};
    import { measureMachine } from ${JSON.stringify(sourceOf("src/operate/machine/measure-machine.ts"))};
    // Loads all code, which another user may not be able to read.
    await examine(":memory:");
    await measureMachine(":memory:", { ms: 5 });
    if (process.getuid() === 0) process.setuid(65534);
    const store = ${JSON.stringify(join(folder, "app.db"))};
    const check = (await examine(store)).find(({ name }) => name === "store");
    console.log(JSON.stringify([check, (await measureMachine(store, { ms: 5 }))[0]]));`;
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
    encoding: "utf8",
  });
  chmodSync(folder, 0o755);
  expect(stderr).toBe("");
  const remedy = "Allow this user to write to the folder, or choose another store.";
  const detail: unknown = expect.stringContaining(`the folder ${folder} cannot be written (EACCES)`);
  expect(JSON.parse(stdout)).toMatchObject([
    { name: "store", status: "wrong", detail, remedy },
    { name: "commit", ms: null, status: "note", detail, remedy },
  ]);
});
