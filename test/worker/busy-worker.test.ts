/** A worker whose places are all taken: what it reports about itself does not depend on a free one. */
import { createRuntime, createWorker } from "toolwright";
import { expect, onTestFinished, test, vi } from "vitest";
import { openStore } from "../../src/store/open-store.ts";
import { until } from "../semantics/harness.ts";
import { STORE_KINDS } from "../store-kinds.ts";

test("a busy worker is ready again when its store answers again", async () => {
  const fresh = await STORE_KINDS[0].fresh();
  onTestFinished(() => fresh[Symbol.asyncDispose]());
  const store = await openStore(fresh.address);
  await using runtime = createRuntime({ store });
  const end = Promise.withResolvers<void>();
  const worker = createWorker({
    runtime,
    programs: { long: () => end.promise },
    concurrency: 1,
    leaseMs: 2_000,
  });
  await worker.start();
  onTestFinished(() => worker.drain());
  await runtime.enqueue("long");
  await until(() => worker.status().claimed === 1);
  const broken = vi.spyOn(store, "read").mockRejectedValue(new Error("the disk is gone"));
  await until(() => worker.status().lastError !== null);
  expect(worker.status().lastError).toBe("the disk is gone");
  broken.mockRestore();
  await until(() => worker.status().lastError === null);
  expect(worker.status().running).toHaveLength(1);
  end.resolve();
});
