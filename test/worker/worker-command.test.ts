/** `toolwright worker` and `toolwright serve --worker`, as users start them, and what a missing pg-boss says. */
import { spawn } from "node:child_process";
import { appendFileSync } from "node:fs";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { createRuntime } from "toolwright";
import { expect, onTestFinished, test } from "vitest";
import { hostOf } from "../../src/runtime/create-runtime.ts";
import { all, change } from "../../src/store/statement.ts";
import { createFolder, start, toolwright } from "../cli/command.ts";
import { GREETING } from "../cli/workflows.ts";
import { freshPostgresSchema } from "../postgres/fresh-postgres.ts";
import { until } from "../semantics/harness.ts";
import { ask, errorOf } from "../server/harness.ts";

const FILES = {
  "toolwright.config.ts": `export default {
    workflows: { hello: "./greeting.tsx" },
    programs: { echo: ({ input }) => input },
  };\n`,
  "greeting.tsx": GREETING,
};

test("worker: health, lease, hand-over of `resume`, and a drain at SIGTERM", async () => {
  const folder = createFolder(FILES);
  const store = join(folder, "toolwright.db");
  const command = start(folder, ["worker", "--health-port", "0", "--lease-ms", "2500", "--build", "b7"]);
  await command.saying("Health: ");
  expect(command.printed()).toContain("serves hello, echo.");
  const url = /Health: (\S+)\/healthz/.exec(command.printed())?.[1] ?? "";
  const get = async (path: string) => {
    const response = await fetch(`${url}${path}`);
    return { status: response.status, body: (await response.json()) as object };
  };
  expect(await get("/healthz")).toMatchObject({ status: 200 });
  // No ids, names or messages: the port has no token.
  expect(await get("/readyz")).toEqual({
    status: 200,
    body: { ready: true, state: "active", concurrency: 4, running: 0, claimed: 0 },
  });
  expect(await get("/runs")).toMatchObject({ status: 404 });
  await using runtime = createRuntime({ store });
  const { store: opened } = await hostOf(runtime);
  const rows = await opened.read(() =>
    all("SELECT lease_ms, build FROM toolwright_owners o JOIN toolwright_workers w ON w.owner_id = o.id"),
  );
  expect(rows).toEqual([{ lease_ms: 2_500, build: "b7" }]);
  // Enqueued for later, by name: there is no file to resume here, so the worker gets it.
  const startAt = Date.now() + 3_600_000;
  await runtime.enqueue("hello", { runId: "h", input: { name: "Ada" }, startAt });
  const resumed = await toolwright(folder, ["resume", "h"]);
  expect(resumed).toMatchObject({ code: 3, stdout: "Run h: A worker resumes the run.\n" });
  await until(async () => (await runtime.describeRun("h")).status === "finished");
  // So does a program that has failed in a crash loop.
  await runtime.enqueue("echo", { runId: "e", input: 1, startAt });
  const fail = `UPDATE toolwright_runs SET state = 'failed', claim_epoch = 6, takeovers = 6, ready_at_ms = NULL,
    error_json = '{"code":"WORKFLOW_CRASH_LOOP","message":"again"}', finished_at_ms = 1 WHERE id = 'e'`;
  await opened.transaction(() => change(fail), "normal");
  expect(await toolwright(folder, ["resume", "e"])).toMatchObject({
    code: 3,
    stdout: "Run e: A worker resumes the run.\n",
  });
  await until(async () => (await runtime.describeRun("e")).status === "finished");
  command.child.kill("SIGTERM");
  expect((await command.ended).code).toBe(0);
  expect(await opened.read(() => all("SELECT owner_id FROM toolwright_workers"))).toEqual([]);
});

const waiting = (name: string, what: string): string => `
import { createWorkflows } from "toolwright";
const { Workflow, Sleep, Signal, workflow } = createWorkflows({});
export default workflow(() => <Workflow name="${name}">${what}</Workflow>);
`;

test("worker: a run that waited, and whose code has changed, is left; ps, why and the list say so", async () => {
  const folder = createFolder({
    "toolwright.config.ts":
      'export default { workflows: { slept: "./slept.tsx", signalled: "./signalled.tsx" } };\n',
    "slept.tsx": waiting("slept", '<Sleep id="s" for="1h" />'),
    "signalled.tsx": waiting("signalled", '<Signal id="s" name="go" />'),
  });
  for (const name of ["slept", "signalled"])
    expect((await toolwright(folder, ["up", name, "--run-id", name])).code).toBe(3);
  for (const name of ["slept", "signalled"])
    appendFileSync(join(folder, `${name}.tsx`), "\n// Another version.\n");
  expect((await toolwright(folder, ["signal", "signalled", "go"])).code).toBe(0);
  await using runtime = createRuntime({ store: join(folder, "toolwright.db") });
  const { store } = await hostOf(runtime);
  // The hour has passed.
  for (const sql of [
    "UPDATE toolwright_waits SET due_at_ms = 1 WHERE run_id = 'slept'",
    "UPDATE toolwright_runs SET ready_at_ms = 1 WHERE id = 'slept'",
  ])
    await store.transaction(() => change(sql), "normal");
  expect((await toolwright(folder, ["worker", "--once"])).code).toBe(0);
  const changed =
    "Its workflow has changed since it started, so workers leave it until the changes are accepted.";
  const ps = await toolwright(folder, ["ps"]);
  for (const [runId, status] of [
    ["slept", "waiting-timer"],
    ["signalled", "waiting-signal"],
  ] as const) {
    expect(ps.stdout).toContain(`${runId}: ${changed}`);
    const { because, next } = await runtime.explainRun(runId);
    expect(because).toContain(changed);
    expect(next[0]?.command).toContain("--accept-changes");
    expect(await runtime.describeRun(runId)).toMatchObject({ status, why: expect.stringContaining(changed) });
    expect((await toolwright(folder, ["resume", runId, "--accept-changes"])).code).toBe(0);
  }
  expect((await toolwright(folder, ["ps"])).stdout).not.toContain("has changed");
});

test("worker: a lease that is too short, a port in use and a config without names are refused", async () => {
  const taken = createServer().listen(0, "::");
  onTestFinished(() => void taken.close());
  await once(taken, "listening");
  const { port } = taken.address() as AddressInfo;
  const folder = createFolder(FILES);
  const [lease, busy, empty] = await Promise.all([
    toolwright(folder, ["worker", "--lease-ms", "100"]),
    toolwright(folder, ["worker", "--health-port", String(port)]),
    toolwright(createFolder(), ["worker"]),
  ]);
  expect(lease.stderr).toContain("2000");
  expect(busy.stderr).toContain("another program uses it");
  expect(empty.stderr).toContain("There is nothing for a worker to run");
  expect([lease.code, busy.code, empty.code]).toEqual([1, 1, 1]);
});

test("serve --worker: POST /runs is enqueued and run, and a name that no worker knows is refused", async () => {
  const folder = createFolder(FILES);
  const command = start(folder, ["serve", "--worker", "--port", "0", "--json"]);
  await command.saying("}\n");
  const served = JSON.parse(command.printed()) as { url: string; token: string };
  const { token } = served;
  await using runtime = createRuntime({ store: join(folder, "toolwright.db") });
  const workers = async () => (await ask(served, "/workers", { token })).body as { workers: object[] };
  await until(async () => (await workers()).workers.length === 1);
  const body = { workflow: "hello", input: { name: "Ada" }, runId: "h" };
  expect(await ask(served, "/runs", { token, body })).toMatchObject({ status: 202, body: { runId: "h" } });
  await until(async () => (await runtime.describeRun("h")).status === "finished");
  expect((await ask(served, "/runs", { token, body })).status).toBe(409);
  const { store } = await hostOf(runtime);
  // It went through the queue: a run that the server starts itself has no position.
  expect(await store.read(() => all("SELECT id FROM toolwright_runs WHERE position > 0"))).toEqual([
    { id: "h" },
  ]);
  const unknown = await ask(served, "/runs", { token, body: { workflow: "helo", input: {} } });
  expect(unknown.status).toBe(404);
  expect(errorOf(unknown).message).toContain('Did you mean "hello"?');
  command.child.kill("SIGTERM");
  expect((await command.ended).code).toBe(0);
});

test("on PostgreSQL, a missing pg-boss and one of another version are errors with the command that installs it", async () => {
  const program = join(import.meta.dirname, "programs/without-pg-boss.ts");
  const child = spawn(process.execPath, [program, await freshPostgresSchema()]);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  expect(stderr).toBe("");
  const hint = 'Run: npm install "pg-boss@~12.35.0"';
  expect(JSON.parse(stdout)).toEqual([
    {
      code: "TOOL_PACKAGE_CONFLICT",
      message: 'A worker on PostgreSQL needs the package "pg-boss", version 12.35.',
      hint,
      // Nothing believes that a worker serves the name.
      workers: 0,
    },
    {
      code: "TOOL_PACKAGE_CONFLICT",
      message: "A worker on PostgreSQL needs pg-boss 12.35; version 11.1.0 is installed.",
      hint,
      workers: 0,
    },
  ]);
});
