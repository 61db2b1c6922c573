/** Runs that a worker must not take, or must no longer take: changed code, other builds and hosts, crash loops. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createRuntime,
  createWorker,
  createWorkflows,
  type Runtime,
  runWorkflow,
  tools,
  type WorkflowDefinition,
} from "toolwright";
import { expect, onTestFinished, test } from "vitest";
import { listWorkers } from "../../src/operate/list-workers.ts";
import { hostOf } from "../../src/runtime/create-runtime.ts";
import { all, change } from "../../src/store/statement.ts";
import { codeDigest } from "../../src/workflow/code-digest.ts";
import { z } from "zod";
import { never, until } from "../semantics/harness.ts";
import { STORE_KINDS } from "../store-kinds.ts";
import { openLedger } from "./ledger.ts";
import { startProcess } from "./start-process.ts";

const [sqlite] = STORE_KINDS;

async function open(): Promise<{
  readonly store: string;
  readonly runtime: () => Runtime;
  readonly folder: string;
}> {
  const fresh = await sqlite.fresh();
  const folder = await mkdtemp(join(tmpdir(), "toolwright-left-"));
  onTestFinished(async () => {
    await fresh[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  });
  return {
    store: fresh.address,
    folder,
    runtime: () => {
      const runtime = createRuntime({ store: fresh.address });
      onTestFinished(() => runtime.close());
      return runtime;
    },
  };
}

const { Workflow, Approval, Parallel, Task, workflow, outputs } = createWorkflows({
  output: z.object({ text: z.string() }),
});

/** The tree stands in for the code in `file`: a worker compares the file. */
function asking(onChange?: "ask" | "continue" | "pin"): WorkflowDefinition {
  return workflow(() => (
    <Workflow name="asking" onChange={onChange}>
      <Approval id="ask" prompt="May it?" />
      <Task id="done" output={outputs.output}>
        {{ text: "done" }}
      </Task>
    </Workflow>
  ));
}

test("the digest of a workflow covers its local imports, and is the same in another folder", async () => {
  const { folder } = await open();
  const write = (name: string, text: string): Promise<void> => writeFile(join(folder, name), text);
  await write("flow.ts", 'import { price } from "./price.js";\nexport default price;');
  await write("price.ts", "export const price = 1;");
  const before = codeDigest(join(folder, "flow.ts"));
  await write("price.ts", "export const price = 2;");
  expect(codeDigest(join(folder, "flow.ts"))).not.toBe(before);
  const other = await open();
  await writeFile(
    join(other.folder, "flow.ts"),
    'import { price } from "./price.js";\nexport default price;',
  );
  await writeFile(join(other.folder, "price.ts"), "export const price = 1;");
  expect(codeDigest(join(other.folder, "flow.ts"))).toBe(before);
});

for (const onChange of [undefined, "continue", "pin"] as const) {
  test(`a run whose code has changed, with onChange ${onChange ?? "unset"}`, async () => {
    const { folder, runtime: open_ } = await open();
    const file = join(folder, "flow.tsx");
    await writeFile(file, "export default 1;");
    const sender = open_();
    const definition = asking(onChange);
    const start = async (build: string): Promise<ReturnType<typeof createWorker>> => {
      const worker = createWorker({
        runtime: open_(),
        workflows: { asking: { load: () => Promise.resolve(definition), file } },
        build,
      });
      await worker.start();
      onTestFinished(() => worker.drain());
      return worker;
    };
    const first = await start("v1");
    const { runId } = await sender.enqueue("asking");
    await until(async () => (await sender.describeRun(runId)).status === "waiting-approval");
    await first.drain();
    await writeFile(file, "export default 2;");
    const second = await start("v2");
    const [request] = await sender.approvals({ status: "pending" });
    await sender.resolveToolApproval(request?.id ?? "", { approved: true });
    if (onChange === "continue") {
      await until(async () => (await sender.describeRun(runId)).status === "finished");
      return;
    }
    const { store } = await hostOf(sender);
    if (onChange === undefined) {
      await until(async () => {
        const [row] = await store.read(() => all("SELECT parked FROM toolwright_runs WHERE id = ?1", runId));
        return row?.["parked"] === "changed";
      });
      const { because, next } = await sender.explainRun(runId);
      expect(because.join(" ")).toMatch(/has changed since it started/);
      expect(next[0]?.command).toMatch(/--accept-changes/);
      expect((await sender.describeRun(runId)).why).toMatch(/has changed since it started/);
      expect((await sender.describeRun(runId)).status).toBe("waiting-approval");
      // It is still so when no worker is left.
      await second.drain();
      expect((await sender.explainRun(runId)).next[0]?.command).toMatch(/--accept-changes/);
      expect((await sender.describeRun(runId)).why).toMatch(/has changed since it started/);
      // An operator accepts the changes.
      const result = await runWorkflow(definition, {
        runtime: sender,
        runId,
        resume: true,
        file,
        acceptChanges: true,
      });
      expect(result.status).toBe("finished");
      return;
    }
    await second.idle();
    expect((await sender.explainRun(runId)).because.join(" ")).toMatch(/pinned to build "v1"/);
    await start("v1");
    await until(async () => (await sender.describeRun(runId)).status === "finished");
  });
}

test("a pinned run whose changes were accepted stays with the new code", async () => {
  const { folder, runtime: open_ } = await open();
  const [oldFile, newFile] = [join(folder, "old.tsx"), join(folder, "new.tsx")];
  await writeFile(oldFile, "export default 1;");
  await writeFile(newFile, "export default 2;");
  const sender = open_();
  const twice = (text: string): WorkflowDefinition =>
    workflow(() => (
      <Workflow name="asking" onChange="pin">
        <Approval id="ask" prompt="May it?" />
        <Approval id="ask-again" prompt="Still?" />
        <Task id="done" output={outputs.output}>
          {{ text }}
        </Task>
      </Workflow>
    ));
  const start = async (build: string, file: string): Promise<ReturnType<typeof createWorker>> => {
    const worker = createWorker({
      runtime: open_(),
      workflows: { asking: { load: () => Promise.resolve(twice(build)), file } },
      build,
    });
    await worker.start();
    onTestFinished(() => worker.drain());
    return worker;
  };
  const approve = async (): Promise<void> => {
    const [request] = await sender.approvals({ status: "pending" });
    await sender.resolveToolApproval(request?.id ?? "", { approved: true });
  };
  const first = await start("v1", oldFile);
  const { runId } = await sender.enqueue("asking");
  await until(async () => (await sender.describeRun(runId)).status === "waiting-approval");
  await first.drain();
  await approve();
  const accepted = { runtime: sender, runId, resume: true, file: newFile, acceptChanges: true } as const;
  expect((await runWorkflow(twice("v2"), accepted)).status).toBe("waiting-approval");
  const old = await start("v1", oldFile);
  await approve();
  await old.idle();
  expect((await sender.describeRun(runId)).status).toBe("waiting-approval");
  await start("v2", newFile);
  await until(async () => (await sender.describeRun(runId)).status === "finished");
  const { store } = await hostOf(sender);
  const [done] = await store.read(() =>
    all("SELECT output_json FROM toolwright_tasks WHERE run_id = ?1 AND node_id = 'done'", runId),
  );
  expect(String(done?.["output_json"])).toContain("v2");
});

test("a worker leaves the runs of another workflow in the same file, and takes its own under another name", async () => {
  const { runtime: open_, folder } = await open();
  const file = join(folder, "flows.tsx");
  await writeFile(file, "export default 1;");
  const sender = open_();
  const flow = (name: string): WorkflowDefinition =>
    workflow(() => (
      <Workflow name={name}>
        <Approval id="ask" prompt="May it?" />
        <Task id="done" output={outputs.output}>
          {{ text: name }}
        </Task>
      </Workflow>
    ));
  const start = async (
    named: Record<string, WorkflowDefinition>,
  ): Promise<ReturnType<typeof createWorker>> => {
    const sources = Object.entries(named).map(([name, definition]) => [
      name,
      { load: () => Promise.resolve(definition), file },
    ]);
    const worker = createWorker({ runtime: open_(), workflows: Object.fromEntries(sources), concurrency: 1 });
    await worker.start();
    onTestFinished(() => worker.drain());
    return worker;
  };
  // As `toolwright up` does: the run has the name that the workflow gives itself.
  const up = async (runId: string, name: string): Promise<void> => {
    await runWorkflow(flow(name), { runtime: sender, runId, file });
    const [request] = await sender.approvals({ runId, status: "pending" });
    await sender.resolveToolApproval(request?.id ?? "", { approved: true });
  };
  for (let n = 0; n < 12; n += 1) await up(`other-${n}`, "other");
  await up("own", "own");
  const worker = await start({ served: flow("own") });
  await until(async () => (await sender.describeRun("own")).status === "finished");
  await worker.idle();
  expect((await sender.describeRun("other-0")).status).toBe("waiting-approval");
  await start({ a: flow("own"), b: flow("other"), c: flow("third") });
  await until(async () => (await sender.runs({ status: "finished" })).runs.length === 13);
  const { store } = await hostOf(sender);
  const texts = await store.read(() =>
    all("SELECT DISTINCT output_json FROM toolwright_tasks WHERE node_id = 'done' AND run_id <> 'own'"),
  );
  expect(texts.map((row) => String(row["output_json"]))).toEqual([expect.stringContaining('"other"')]);
});

test("a run that used files stays on its host", async () => {
  const { runtime: open_, folder } = await open();
  const sender = open_();
  await sender.call(tools.read, { path: "nothing" }, { runId: "bare" }).catch(() => undefined);
  const { store } = await hostOf(sender);
  const writing = workflow(() => (
    <Workflow name="writing">
      <Task id="write">{() => tools.write.execute({ path: "a.txt", content: "a" })}</Task>
      <Approval id="ask" prompt="May it?" />
    </Workflow>
  )) as WorkflowDefinition;
  const worker = createWorker({
    runtime: open_(),
    workflows: { writing: { load: () => Promise.resolve(writing), options: { rootDir: folder } } },
  });
  await worker.start();
  onTestFinished(() => worker.drain());
  const { runId } = await sender.enqueue("writing");
  await until(async () => (await sender.describeRun(runId)).status === "waiting-approval");
  const [row] = await store.read(() => all("SELECT host FROM toolwright_runs WHERE id = ?1", runId));
  expect(row?.["host"]).toBe((await hostOf(sender)).machine);
  // As if another machine had run it.
  await store.transaction(
    () => change("UPDATE toolwright_runs SET host = 'elsewhere' WHERE id = ?1", runId),
    "normal",
  );
  const [request] = await sender.approvals({ status: "pending", runId });
  await sender.resolveToolApproval(request?.id ?? "", { approved: true });
  await worker.idle();
  expect((await sender.explainRun(runId)).because.join(" ")).toMatch(/files on another machine/);
  await worker.drain();
  const shared = createWorker({
    runtime: open_(),
    workflows: { writing: { load: () => Promise.resolve(writing), options: { rootDir: folder } } },
    sharedRoot: true,
  });
  await shared.start();
  onTestFinished(() => shared.drain());
  await until(async () => (await sender.describeRun(runId)).status === "finished");
});

test("a run that was decided while its process worked is taken over when that process dies", async () => {
  const { store: address, runtime: open_ } = await open();
  const dying = createRuntime({ store: address });
  // Its task never returns, and would keep it open.
  onTestFinished(() => void dying.close());
  let isDead = false;
  const mixed = workflow(() => (
    <Workflow name="mixed">
      <Parallel>
        <Approval id="ask" prompt="May it?" />
        <Task id="slow" output={outputs.output}>
          {() => (isDead ? { text: "done" } : never<{ text: string }>())}
        </Task>
      </Parallel>
    </Workflow>
  )) as WorkflowDefinition;
  void runWorkflow(mixed, { runtime: dying, runId: "a" }).catch(() => undefined);
  const sender = open_();
  const requests = () => sender.approvals({ status: "pending" });
  await until(async () => (await requests()).length === 1);
  await sender.resolveToolApproval((await requests())[0]?.id ?? "", { approved: true });
  isDead = true;
  const { store, ownerId } = await hostOf(dying);
  // A process of this host that does not exist, and that no worker has missed yet.
  await store.transaction(
    () => change("UPDATE toolwright_owners SET pid = 0, lease_until_ms = 1 WHERE id = ?1", ownerId),
    "normal",
  );
  const worker = createWorker({ runtime: open_(), workflows: { mixed } });
  await worker.start();
  onTestFinished(() => worker.drain());
  await until(async () => (await sender.describeRun("a")).status === "finished");
});

test("a run that kills its workers repeatedly fails", { timeout: 120_000 }, async () => {
  const { store, runtime: open_ } = await open();
  const sender = open_();
  const ledger = await openLedger();
  const { runId } = await sender.enqueue("poison");
  const input = { store, ledgerUrl: ledger.url, leaseMs: 2_000 };
  let deaths = 0;
  while ((await sender.describeRun(runId)).status !== "failed") {
    const worker = await startProcess(input);
    const end = await Promise.race([
      worker.ended,
      until(async () => (await sender.describeRun(runId)).status === "failed"),
    ]);
    if (end === 7) deaths += 1;
  }
  expect(deaths).toBe(6);
  const { error } = await sender.describeRun(runId);
  expect(error?.code).toBe("WORKFLOW_CRASH_LOOP");
});

test("a runtime has one worker at a time, and a worker that was drained does not start again", async () => {
  const { runtime: open_ } = await open();
  const runtime = open_();
  const first = createWorker({ runtime, programs: { one: () => 1 } });
  const second = createWorker({ runtime, programs: { two: () => 2 } });
  await first.start();
  await first.start();
  await expect(second.start()).rejects.toThrow("createWorker: runtime has a worker already.");
  const { store } = await hostOf(runtime);
  const serves = async () => (await listWorkers(store)).flatMap((one) => one.serves.map(({ name }) => name));
  expect(await serves()).toEqual(["one"]);
  await first.drain();
  await second.start();
  expect(await serves()).toEqual(["two"]);
  await second.drain();
  await expect(second.start()).rejects.toMatchObject({ code: "TOOL_RUNTIME_CLOSED" });
});

test("invalid options of a worker are refused by name", () => {
  const runtime = createRuntime({ store: ":memory:" });
  const flow = asking();
  expect(() => createWorker({ runtime })).toThrow(/at least one workflow/);
  expect(() => createWorker({ runtime, workflows: { flow }, leaseMs: 500 })).toThrow(/leaseMs.*2000/);
  for (const drainMs of [-1, Number.NaN, Infinity, 2 ** 31])
    expect(() => createWorker({ runtime, workflows: { flow }, drainMs })).toThrow(/drainMs.*0 to 86400000/);
  expect(() => createWorker({ runtime, workflows: { flow }, programs: { flow: () => 1 } })).toThrow(/twice/);
  expect(() => createWorker({ runtime, workflows: { flow }, leasMs: 1 } as never)).toThrow(/leaseMs/);
});
