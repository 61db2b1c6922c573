/** A run that its worker has given back, while its program still runs: the program can no longer end the run. */
import { once } from "node:events";
import { createRuntime, createWorker, type ProgramJob, ToolwrightError } from "toolwright";
import { expect, test } from "vitest";
import { RunRelease } from "../../src/invoke/run-release.ts";
import { hostOf } from "../../src/runtime/create-runtime.ts";
import { Ownership } from "../../src/runtime/ownership.ts";
import { runProgram } from "../../src/worker/claim-program.ts";
import type { Program } from "../../src/worker/options.ts";
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

test("a worker takes a run again only when its program has returned, and an aborted agent does not fail it", async () => {
  await using fresh = await STORE_KINDS[0].fresh();
  await using runtime = createRuntime({ store: fresh.address });
  await runtime.enqueue("slow", { runId: "a", kind: "program" });
  const host = await hostOf(runtime);
  const drive = (release: RunRelease, program: Program): Promise<"ended" | "lost"> =>
    runProgram({ host, runtime, runId: "a", program, release, onClaimed: () => undefined });
  const lost = new ToolwrightError("TOOL_RUN_FENCED", "The lease is over.");
  const release = new RunRelease();
  const returns = Promise.withResolvers<void>();
  const first = drive(release, () => returns.promise);
  await until(async () => (await runtime.describeRun("a")).status === "running");
  release.now(lost);
  expect(await first).toBe("ended");
  expect(await drive(new RunRelease(), () => "done")).toBe("lost");
  returns.resolve();
  await until(async () => !host.claimed.has("a"));
  const aborted = new ToolwrightError("TOOL_ABORTED", "The agent was aborted.", { cause: lost });
  expect(await drive(new RunRelease(), () => Promise.reject(aborted))).toBe("ended");
  expect((await runtime.describeRun("a")).status).toBe("queued");
  expect(await drive(new RunRelease(), () => "done")).toBe("ended");
  expect((await runtime.describeRun("a")).status).toBe("finished");
});

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
  // A lease that is over when it begins, and is renewed repeatedly.
  await ownership.becomeWorker(-1);
  await twice.promise;
  ownership.stop(false);
});
