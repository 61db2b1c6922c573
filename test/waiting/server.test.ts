/** Signals and schedules over HTTP. */
import { runWorkflow } from "toolwright";
import { describe, expect, test } from "vitest";
import { ask, errorOf, freshStore, openRuntime, patient, startServer } from "../server/harness.ts";
import { STORE_KINDS } from "../store-kinds.ts";

describe.each(STORE_KINDS)("on $name", (kind) => {
  test("a signal is stored, checked and refused as runtime.signal does", async () => {
    const store = await freshStore(kind);
    const server = await startServer({ store });
    const runtime = openRuntime(store);
    await runWorkflow(patient, { runtime, runId: "r", input: { name: "Ada" } });
    const send = (runId: string, body: object) => ask(server, `/runs/${runId}/signal`, { body });
    const wrong = await send("r", { name: "go", payload: { n: "one" } });
    expect([wrong.status, errorOf(wrong).code]).toEqual([422, "WORKFLOW_SIGNAL_INVALID"]);
    expect((await send("r", { payload: 1 })).status).toBe(422);
    expect((await send("r", { name: "go", extra: 1 })).status).toBe(422);
    const sent = await send("r", { name: "go", payload: { n: 1 }, key: "k" });
    expect(sent.status).toBe(202);
    expect(sent.body).toMatchObject({
      duplicate: false,
      awaited: true,
      message: expect.stringMatching(/No worker is running\..*run the command/),
      command: expect.stringContaining("resume r"),
    });
    expect((await send("r", { name: "go", payload: { n: 1 }, key: "k" })).body).toMatchObject({
      duplicate: true,
    });
    expect((await ask(server, "/runs/r")).body).toMatchObject({
      status: "waiting-signal",
      waits: [{ nodeId: "go", kind: "signal", signal: "go", isOver: true }],
    });
    await runWorkflow(patient, { runtime, runId: "r", resume: true });
    const late = await send("r", { name: "go", payload: { n: 2 } });
    expect([late.status, errorOf(late).code]).toEqual([409, "WORKFLOW_RUN_OVER"]);
    const unknown = await send("nothing", { name: "go" });
    expect([unknown.status, errorOf(unknown).code]).toEqual([404, "TOOL_RUN_NOT_FOUND"]);
  });

  test("schedules are listed with their next times", async () => {
    const store = await freshStore(kind);
    const server = await startServer({ store });
    const runtime = openRuntime(store);
    expect((await ask(server, "/schedules")).body).toEqual({ schedules: [] });
    const set = await runtime.schedules.set({ name: "nightly", workflow: "report", cron: "0 3 * * *" });
    expect((await ask(server, "/schedules")).body).toEqual({ schedules: [set] });
    expect((await ask(server, "/workers")).body).toEqual({ workers: [] });
  });
});
