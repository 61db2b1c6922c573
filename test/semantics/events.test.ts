/** The events that a runtime emits. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { defineTool, type Runtime, type RuntimeEvent } from "toolwright";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createWorld, never, until } from "./harness.ts";
import { createCharge } from "./tools.ts";

const task = { runId: "r1" };
const args = { amount: 1 };

function listen(runtime: Runtime): RuntimeEvent[] {
  const events: RuntimeEvent[] = [];
  runtime.subscribe((event) => events.push(event));
  return events;
}

describe("events", () => {
  it("arrive in order, with the ids of the call", async () => {
    const world = await createWorld();
    const runtime = await world.runtime();
    const events = listen(runtime);
    const tool = defineTool({
      name: "talks",
      schema: z.object({}),
      sideEffect: true,
      idempotent: true,
      execute(_args, ctx) {
        ctx.log.info("looking", { at: 1 });
        ctx.progress("half", { done: 0.5 });
        return "done";
      },
    });
    const outcome = await runtime.call(tool, {}, { ...task, nodeId: "n", iteration: 1, toolCallId: "t1" });
    expect(events.map(({ type }) => type)).toEqual([
      "call-started",
      "call-logged",
      "call-progress",
      "call-finished",
    ]);
    expect(events[0]).toMatchObject({ type: "call-started", seq: 1 });
    expect(events[1]).toMatchObject({ level: "info", message: "looking", data: { at: 1 } });
    expect(events[2]).toMatchObject({ message: "half", data: { done: 0.5 } });
    expect(events[3]).toMatchObject({
      status: "success",
      replayed: false,
      fromCache: false,
      errorCode: undefined,
    });
    for (const event of events) {
      expect(event).toMatchObject({
        runId: "r1",
        nodeId: "n",
        iteration: 1,
        attempt: 1,
        toolName: "talks",
        toolCallId: "t1",
        key: outcome.key,
      });
    }
  });

  it("report a call as finished after its outcome is stored", async () => {
    const world = await createWorld();
    const runtime = await world.runtime();
    const seen: Promise<unknown>[] = [];
    runtime.subscribe((event) => {
      if (event.type === "call-finished") seen.push(world.log("r1").then((log) => log[0]?.["status"]));
    });
    await runtime.call(createCharge().charge, args, task);
    expect(await Promise.all(seen)).toEqual(["success"]);
  });

  it("report approvals as requested and settled", async () => {
    const world = await createWorld();
    const runtime = await world.runtime();
    const events = listen(runtime);
    const { charge } = createCharge({ needsApproval: true });
    const pending = await runtime.call(charge, args, { ...task, callKey: "k" });
    if (pending.status !== "pending") throw new Error(pending.status);
    const { id } = pending.approval;
    await runtime.resolveToolApproval(id, { approved: false });
    await runtime.call(charge, args, { ...task, callKey: "k" });
    expect(events).toMatchObject([
      { type: "approval-requested", approvalId: id },
      { type: "approval-settled", approvalId: id, approved: false, runId: "r1" },
      { type: "call-finished", status: "denied" },
    ]);
  });

  it("mark replays, cache hits and errors", async () => {
    const world = await createWorld();
    const runtime = await world.runtime();
    const events = listen(runtime);
    const cached = defineTool({ name: "cached", schema: z.object({}), cache: true, execute: () => 1 });
    await runtime.call(cached, {}, task);
    await runtime.call(cached, {}, task);
    await runtime.call(createCharge().charge, { amount: "x" } as never, task);
    const later = await world.runtime();
    const laterEvents = listen(later);
    await later.call(cached, {}, task);
    const finished = [...events, ...laterEvents].filter((event) => event.type === "call-finished");
    expect(
      finished.map(({ status, replayed, fromCache, errorCode }) => [status, replayed, fromCache, errorCode]),
    ).toEqual([
      ["success", false, false, undefined],
      ["success", false, true, undefined],
      ["error", false, false, "TOOL_INPUT_INVALID"],
      ["success", true, false, undefined],
    ]);
  });

  it("hold no secret of an error that reconcile throws", async () => {
    const world = await createWorld();
    let entered = 0;
    const tool = defineTool({
      name: "login",
      schema: z.object({ password: z.string() }),
      sideEffect: true,
      idempotent: false,
      settleMs: 0,
      redact: { input: ["password"] },
      reconcile: ({ password }) => {
        throw new Error(`no session for ${password}`);
      },
      execute: (_args, ctx) => {
        entered += 1;
        return ctx.idempotencyKey === "" ? "" : never<string>();
      },
    });
    void (await world.runtime()).call(tool, { password: "hunter2" }, task);
    await until(() => entered === 1);
    await world.killAll();
    const runtime = await world.runtime();
    const events = listen(runtime);
    await runtime.call(tool, { password: "hunter2" }, task);
    expect(events.some((event) => event.type === "call-logged")).toBe(true);
    expect(JSON.stringify(events)).not.toContain("hunter2");
  });
});

describe("listeners", () => {
  it("that throw affect neither the call nor the other listeners", async () => {
    const world = await createWorld();
    const runtime = await world.runtime();
    runtime.subscribe(() => {
      throw new Error("listener is broken");
    });
    const events = listen(runtime);
    expect(await runtime.call(createCharge().charge, args, task)).toMatchObject({ status: "success" });
    expect(events.map(({ type }) => type)).toEqual(["call-started", "call-finished"]);
  });

  it("that reject do not end the process", async () => {
    const program = `
      import { createRuntime, defineTool } from "./src/index.ts";
      import { z } from "zod";
      const runtime = createRuntime({ store: ":memory:" });
      runtime.subscribe(async () => { throw new Error("listener is broken"); });
      const tool = defineTool({ name: "t", schema: z.object({}), execute: () => 1 });
      await runtime.call(tool, {}, { runId: "r" });
      await new Promise((resolve) => setTimeout(resolve, 20));
      console.log("still here");
    `;
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", program], {
      cwd: fileURLToPath(new URL("../..", import.meta.url)),
    });
    expect(stdout).toContain("still here");
  });

  it("receive nothing after they unsubscribe", async () => {
    const world = await createWorld();
    const runtime = await world.runtime();
    const events: RuntimeEvent[] = [];
    const stop = runtime.subscribe((event) => events.push(event));
    await runtime.call(createCharge().charge, args, task);
    const heard = events.length;
    stop();
    await runtime.call(createCharge().charge, args, task);
    expect(events).toHaveLength(heard);
    expect(heard).toBeGreaterThan(0);
  });
});
