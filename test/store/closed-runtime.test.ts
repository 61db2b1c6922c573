/** A closed runtime must not block other runtimes for as long as its process lives. */
import { createRuntime, defineTool, type Runtime } from "toolwright";
import { expect, it } from "vitest";
import { z } from "zod";
import { until } from "../semantics/harness.ts";
import { STORE_KINDS } from "../store-kinds.ts";

/** A charge that waits for `release`, whatever its signal says, and then has its effect. */
function createStubbornCharge() {
  const release = Promise.withResolvers<void>();
  const counts = { entered: 0, effects: 0, asked: 0 };
  const charge = defineTool({
    name: "charge",
    schema: z.object({}),
    outputSchema: z.number(),
    sideEffect: true,
    timeoutMs: 200,
    settleMs: 0,
    async reconcile() {
      counts.asked += 1;
      return counts.effects > 0 ? { happened: true, output: counts.effects } : { happened: false };
    },
    async execute() {
      counts.entered += 1;
      await release.promise;
      counts.effects += 1;
      return counts.effects;
    },
  });
  return { charge, counts, release };
}

it.each(STORE_KINDS)(
  "rule 14: on $name a call that was cut off is settled when its tool ends after the runtime was closed",
  async (kind) => {
    await using fresh = await kind.fresh();
    const { charge, counts, release } = createStubbornCharge();
    const task = { runId: "r1" };
    const stop = new AbortController();
    const first = createRuntime({ store: fresh.address });
    const call = first.call(charge, {}, { ...task, signal: stop.signal });
    await until(() => counts.entered === 1);
    stop.abort();
    expect(await call).toMatchObject({ status: "error", error: { code: "TOOL_ABORTED" } });
    await first.close();
    await using second: Runtime = createRuntime({ store: fresh.address });
    // The tool is still running: neither the service nor a second execution can know its outcome.
    expect(await second.call(charge, {}, task)).toMatchObject({ status: "pending" });
    expect(counts).toMatchObject({ entered: 1, asked: 0 });
    release.resolve();
    await until(async () => (await second.call(charge, {}, task)).status === "success");
    expect(counts).toMatchObject({ entered: 1, effects: 1 });
    expect(await second.approvals({ status: "pending" })).toEqual([]);
  },
);
