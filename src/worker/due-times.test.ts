/** When a worker has to look again. */
import { expect, test } from "vitest";
import { createRuntime, hostOf } from "../runtime/create-runtime.ts";
import { DueTimes } from "./due-times.ts";

test("a run that starts in years gives no longer time than a timer can take", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  await runtime.enqueue("later", { startAt: Date.now() + 10 * 365 * 86_400_000 });
  const { store } = await hostOf(runtime);
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const times = new DueTimes(store, resolve, reject);
  times.lookSoon();
  expect(await promise).toBe(2 ** 31 - 1);
  times.stop();
});
