/** A run that its worker has given back, while its program still runs: the program cannot end the run any more. */
import { once } from "node:events";
import { createRuntime, createWorker, type ProgramJob } from "toolwright";
import { expect, test } from "vitest";
import { Ownership } from "../../src/runtime/ownership.ts";
import { until } from "../semantics/harness.ts";
import { STORE_KINDS } from "../store-kinds.ts";

test.each(STORE_KINDS)(
  "on $name, a program cannot open its run after the worker has given it back",
  async (kind) => {
    await using fresh = await kind.fresh();
    await using operator = createRuntime({ store: fresh.address });
    const isQueued = async (): Promise<boolean> => (await operator.describeRun("a")).status === "queued";
    const started = Promise.withResolvers<void>();
    const late = Promise.withResolvers<unknown>();
    const slow = async ({ runId, signal, runtime }: ProgramJob): Promise<void> => {
      started.resolve();
      await once(signal, "abort");
      await until(isQueued);
      const fail = (): never => {
        throw new Error("aborted");
      };
      await runtime.run({ runId }, fail).catch(late.resolve);
    };
    await using first = createRuntime({ store: fresh.address });
    const worker = createWorker({ runtime: first, programs: { slow }, drainMs: 0 });
    await worker.start();
    await operator.enqueue("slow", { runId: "a" });
    await started.promise;
    const drained = worker.drain();
    expect(await late.promise).toMatchObject({ code: "TOOL_RUN_FENCED" });
    await drained;
    expect(await isQueued()).toBe(true);
    await using second = createRuntime({ store: fresh.address });
    await using next = createWorker({ runtime: second, programs: { slow: () => "done" } });
    await next.start();
    await until(async () => (await operator.describeRun("a")).status === "finished");
  },
);

test("rule 41: a worker that has lost its lease once notices the next loss too", async () => {
  const ownership = new Ownership(() => Promise.resolve());
  const twice = Promise.withResolvers<void>();
  let losses = 0;
  const watch = (): void => {
    const listen = (): void => {
      losses += 1;
      if (losses === 2) twice.resolve();
      else watch();
    };
    ownership.lostSignal().addEventListener("abort", listen, { once: true });
  };
  watch();
  // A lease that is over when it begins, and is renewed again and again.
  await ownership.becomeWorker(-1);
  await twice.promise;
  ownership.stop(false);
});
