/** Read-only commands: what they show to people and to programs. They never create a store. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { z } from "zod";
import { createRuntime, createSmithers, defineTool, runWorkflow } from "../../src/index.ts";
import { jsx } from "../../src/jsx-runtime.ts";
import { openStore } from "../../src/store/open-store.ts";
import { change } from "../../src/store/statement.ts";
import { createFolder, toolwright } from "./command.ts";
import { EFFECTS, GREETING } from "./workflows.ts";

it("lists runs newest first, with their tasks", async () => {
  const folder = createFolder({ "w.tsx": EFFECTS, "g.tsx": GREETING });
  await toolwright(folder, ["up", "w.tsx", "--run-id", "one"]);
  await toolwright(folder, ["up", "g.tsx", "--run-id", "two", "--input", '{"name":"a"}']);
  const ps = await toolwright(folder, ["ps", "--json"]);
  expect(ps.json()).toEqual([
    expect.objectContaining({ runId: "two", workflow: "greeting", status: "finished" }),
    {
      runId: "one",
      kind: "workflow",
      name: "effects",
      workflow: "effects",
      file: join(folder, "w.tsx"),
      pid: null,
      error: null,
      status: "finished",
      interrupted: false,
      tasks: 2,
      taskCounts: { running: 0, finished: 2, failed: 0, skipped: 0, waiting: 0 },
      currentTask: null,
      leftByWorkers: null,
      calls: 2,
      pendingApprovals: 0,
      labels: {},
      why: expect.stringMatching(/^It finished after /),
      createdAtMs: expect.any(Number),
      updatedAtMs: expect.any(Number),
      finishedAtMs: expect.any(Number),
    },
  ]);
  const [table, limited, failed, inspected, calls, callRows] = await Promise.all([
    toolwright(folder, ["ps"]),
    toolwright(folder, ["ps", "--limit", "1", "--json"]),
    toolwright(folder, ["ps", "--status", "failed", "--json"]),
    toolwright(folder, ["inspect", "one"]),
    toolwright(folder, ["calls", "one"]),
    toolwright(folder, ["calls", "one", "--task", "second", "--json"]),
  ]);
  expect(table.stdout).toMatch(/^RUN .*\ntwo .*finished.*1 done.*\none .*finished.*2 done/);
  expect(limited.json()).toHaveLength(1);
  expect(failed.json()).toEqual([]);
  expect(inspected.stdout).toMatch(
    /effects one\n {2}status {4}finished[^]*first {2}finished {2}\{"text":"first"\}/,
  );
  expect(calls.stdout).toMatch(/^TASK .*\nfirst .*write_line .*success[^]*\nsecond .*write_line/);
  expect(callRows.json()).toMatchObject([{ runId: "one", nodeId: "second", toolName: "write_line", seq: 1 }]);
});

it("shows everything that is stored about a run, as JSON", async () => {
  const folder = createFolder({ "g.tsx": GREETING });
  await toolwright(folder, ["up", "g.tsx", "--run-id", "g", "--input", '{"name":"ann"}']);
  const inspected = await toolwright(folder, ["inspect", "g", "--json"]);
  expect(inspected.json()).toMatchObject({
    runId: "g",
    input: { name: "ann" },
    options: { rootDir: folder },
    calls: 0,
    approvals: [],
    tasks: [{ nodeId: "greet", status: "finished", output: { text: "hello ann" }, error: null, attempt: 1 }],
  });
  const why = await toolwright(folder, ["why", "g", "--json"]);
  expect(why.json()).toMatchObject({ runId: "g", status: "finished", because: [expect.any(String)] });
});

it("creates no store", async () => {
  const folder = createFolder();
  const [ps, approvals, doctor] = await Promise.all([
    toolwright(folder, ["ps", "--json"]),
    toolwright(folder, ["approvals", "--json"]),
    toolwright(folder, ["doctor", "--json"]),
  ]);
  expect([ps.json(), approvals.json()]).toEqual([[], []]);
  expect(doctor.json()).toMatchObject({ ok: true });
  expect(existsSync(join(folder, "toolwright.db"))).toBe(false);
});

it("examines Node, the store, the sandbox and packages", async () => {
  const folder = createFolder({ "broken.db": "this is not a database" });
  const good = await toolwright(folder, ["doctor"]);
  expect(good.code).toBe(0);
  for (const name of ["node", "store", "sandbox", "zod", "ai", "pg"]) expect(good.stdout).toContain(name);
  const bad = await toolwright(folder, ["doctor", "--store", "broken.db", "--json"]);
  expect(bad.code).toBe(1);
  expect(bad.json()).toMatchObject({ ok: false });
  const missing = await toolwright(folder, ["doctor", "--store", "no such folder/x.db"]);
  expect(missing.code).toBe(1);
  expect(missing.stdout).toContain("does not exist, so no run can create the store");
  expect(missing.stdout).toContain(`mkdir -p '${join(folder, "no such folder")}'`);
});

it("has help with examples for every command", async () => {
  const folder = createFolder();
  const help = await toolwright(folder, ["--help"]);
  const [, list = ""] = /Commands:\n([^]*?)\n\n/.exec(help.stdout) ?? [];
  const names = [...list.matchAll(/^ {2}([a-z]+) .*(?:\n|$)/gm)].map(([, name = ""]) => name);
  const commands = names.filter((name) => name !== "help");
  expect(commands).toHaveLength(28);
  const texts = await Promise.all(commands.map((name) => toolwright(folder, [name, "--help"])));
  expect(texts.filter(({ stdout }) => !stdout.includes("Examples:"))).toEqual([]);
});

it("rule 36: shows a call whose process died as unknown: calls, inspect and why", async () => {
  const folder = createFolder();
  const path = join(folder, "toolwright.db");
  const began = Promise.withResolvers<void>();
  const pay = defineTool({
    name: "pay",
    schema: z.object({}),
    sideEffect: true,
    idempotent: false,
    execute: (_args, ctx) => {
      began.resolve();
      return new Promise((_resolve, reject) => ctx.signal.addEventListener("abort", reject));
    },
  });
  const { Workflow, Task, smithers, outputs } = createSmithers({ output: z.string() });
  const workflow = smithers(() =>
    jsx(Workflow, {
      name: "paying",
      children: jsx(Task, { id: "t", output: outputs.output, children: () => pay.invoke({}) }),
    }),
  );
  const runtime = createRuntime({ store: path });
  const stop = new AbortController();
  const running = runWorkflow(workflow, { runtime, runId: "r", signal: stop.signal });
  await began.promise;
  const store = await openStore(path);
  await store.transaction(() => change("UPDATE toolwright_owners SET ended_at_ms = {now}"), "normal");
  await store.close();
  const [calls, table, inspected, why] = await Promise.all([
    toolwright(folder, ["calls", "r", "--json"]),
    toolwright(folder, ["calls", "r"]),
    toolwright(folder, ["inspect", "r", "--json"]),
    toolwright(folder, ["why", "r"]),
  ]);
  expect(calls.json()).toMatchObject([{ toolName: "pay", status: "unknown", path: "0" }]);
  expect(table.stdout).toMatch(/pay +unknown/);
  expect(inspected.json()).toMatchObject({ calls: 1, interruptedCalls: [{ toolName: "pay", nodeId: "t" }] });
  expect(why.stdout).toContain('The outcome of its call of "pay" in task "t"');
  stop.abort();
  await running.catch(() => undefined);
  await runtime[Symbol.asyncDispose]();
});
