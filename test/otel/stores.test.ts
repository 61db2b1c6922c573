/** The telemetry data in the store, on both databases: links of forks and of programs, the queue, pending requests. */
import { createRuntime, createSmartAgent, createWorker, defineTool } from "toolwright";
import { openTelemetry } from "toolwright/otel";
import { createScriptedModel } from "toolwright/testing";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { hostOf } from "../../src/runtime/create-runtime.ts";
import { all, change } from "../../src/store/statement.ts";
import { until } from "../semantics/harness.ts";
import { STORE_KINDS } from "../store-kinds.ts";
import { linksOf, openSdk } from "./harness.ts";

const charge = defineTool({
  name: "charge",
  schema: z.object({}),
  sideEffect: true,
  idempotent: true,
  needsApproval: true,
  execute: () => "charged",
});

for (const kind of STORE_KINDS) {
  test(`on ${kind.name}, an enqueued program is decided and resumed by a worker`, async () => {
    const fresh = await kind.fresh();
    const seen = openSdk();
    const runtime = createRuntime({ store: fresh.address, telemetry: openTelemetry(seen.sdk) });
    const worker = createWorker({
      runtime,
      programs: {
        pay: ({ runId, runtime: own }) => own.run({ runId, name: "pay" }, () => own.call(charge, {})),
      },
    });
    onTestFinished(async () => {
      await worker.drain();
      await runtime.close();
      await fresh[Symbol.asyncDispose]();
    });
    const reach = (status: string): Promise<void> =>
      until(async () => (await runtime.describeRun("a")).status === status);
    await worker.start();
    await runtime.enqueue("pay", { input: {}, runId: "a" });
    await reach("waiting-approval");
    expect(await seen.points("toolwright.queue.lag")).toMatchObject([
      { value: 1, attributes: { "toolwright.run.kind": "program" } },
    ]);
    expect(await seen.points("toolwright.approvals.pending")).toMatchObject([{ value: 1 }]);
    expect((await seen.points("toolwright.approvals.oldest")).length).toBe(1);
    const [request] = await runtime.approvals({ status: "pending" });
    await runtime.resolveToolApproval(request?.id ?? "", { approved: true });
    await reach("finished");
    const named = (name: string) => seen.spans().filter((span) => span.name === name);
    const [first, second] = named("invoke_workflow pay");
    expect(linksOf(second as never)).toEqual([["resume", first?.context.spanId]]);
    const [requested] = named("request_approval charge");
    expect(linksOf(named("execute_tool charge")[0] as never)).toEqual([
      ["decision", requested?.context.spanId],
    ]);
    expect((await seen.points("toolwright.queue.lag"))[0]?.value).toBe(2);

    // A fork: a run that names the run that it was forked from.
    const { store } = await hostOf(runtime);
    await runtime.call(charge, {}, { runId: "fork" });
    await store.transaction(
      () => change("UPDATE toolwright_runs SET parent_id = 'a' WHERE id = 'fork'"),
      "normal",
    );
    await runtime.run({ runId: "fork", name: "forked" }, () => undefined);
    expect(linksOf(named("invoke_workflow forked")[0] as never)).toEqual([["fork", second?.context.spanId]]);
    const rows = await store.read(() => all("SELECT trace FROM toolwright_calls"));
    expect(rows.map(({ trace }) => String(trace))).toEqual(
      rows.map(() => expect.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/)),
    );
  });

  test(`on ${kind.name}, runs that no worker takes are seen`, async () => {
    const fresh = await kind.fresh();
    const seen = openSdk();
    const runtime = createRuntime({ store: fresh.address, telemetry: openTelemetry(seen.sdk) });
    onTestFinished(async () => {
      await runtime.close();
      await fresh[Symbol.asyncDispose]();
    });
    const size = async () => (await seen.points("toolwright.queue.size")).map(({ value }) => value);
    await runtime.ready();
    expect(await size()).toEqual([0]);
    await runtime.enqueue("pay", { input: {}, runId: "due" });
    await runtime.enqueue("pay", { input: {}, runId: "later", startAt: Date.now() + 3_600_000 });
    expect(await size()).toEqual([1]);
    const { store } = await hostOf(runtime);
    const age = "UPDATE toolwright_runs SET ready_at_ms = ready_at_ms - 90000 WHERE id = 'due'";
    await store.transaction(() => change(age), "normal");
    const [oldest] = await seen.points("toolwright.queue.oldest");
    expect(oldest?.value).toBeGreaterThanOrEqual(90);
  });

  test(`on ${kind.name}, each agent of a task links to itself in the activation before`, async () => {
    const fresh = await kind.fresh();
    const seen = openSdk();
    const runtime = createRuntime({ store: fresh.address, telemetry: openTelemetry(seen.sdk) });
    onTestFinished(async () => {
      await runtime.close();
      await fresh[Symbol.asyncDispose]();
    });
    const ask = (name: string): Promise<unknown> =>
      createSmartAgent({ name, model: createScriptedModel(["Done."]), runtime }).invoke({
        messages: [{ role: "user", content: name }],
      });
    const activate = (): Promise<unknown> =>
      runtime.run({ runId: "r" }, async () => {
        await ask("reader");
        await Promise.all([ask("writer"), ask("editor")]);
      });
    await activate();
    await activate();
    for (const name of ["reader", "writer", "editor"]) {
      const [first, second] = seen.spans().filter((span) => span.name === `invoke_agent ${name}`);
      expect(linksOf(first as never)).toEqual([]);
      expect(linksOf(second as never)).toEqual([["resume", first?.context.spanId]]);
    }
  });
}
