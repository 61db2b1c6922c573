/** Makes a fixture of a run, as `toolwright record` does. */
import type { Fixture } from "../invoke/replay/fixture.ts";
import { useRuntime } from "../runtime/create-runtime.ts";
import { checkId } from "../runtime/options.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { lazyModule } from "../util/lazy.ts";

// Points up: recording is a function for operators, and is loaded on first use.
const recording = lazyModule(() => import("../operate/fixtures/record-run.ts"));

/**
 * @param runtime on the store that has the run
 * @throws TOOL_RUN_NOT_FOUND, TOOL_RUN_DELETED, TOOL_RUN_NOT_RECORDED
 * @example
 * const fixture = await recordRun(runtime, "order-17");
 * await writeFile("order.fixture.json", JSON.stringify(fixture, null, 2));
 */
export async function recordRun(runtime: Runtime, runId: string): Promise<Fixture> {
  checkId("runId", runId);
  const { recordRun: record } = await recording.get();
  return useRuntime(runtime, ({ host }) => record(host.store, runId));
}
