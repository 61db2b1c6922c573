/** Replays a recorded run in a test. */
import type { ToolwrightError } from "../errors.ts";
import type { ReplayDifference } from "../invoke/replay/fixture.ts";
import type { RunState } from "../store/run-words.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { ToolSource } from "../tool/from-tool.ts";
import { lazyModule } from "../util/lazy.ts";

export interface ReplayOptions {
  /** The workflow, for a run of one. */
  readonly workflow?: object | undefined;
  /**
   * An AI SDK agent, a smart agent, or the function that made the run: a program, or one that calls `runAgentLoop`.
   * It must use the runtime and the run id that it receives.
   */
  readonly agent?: object | ReplayedProgram | undefined;
  /** Tools that the code does not bring itself, such as the tool of a single call. */
  readonly tools?: ToolSource | undefined;
}

export type ReplayedProgram = (given: {
  readonly runtime: Runtime;
  readonly runId: string;
  /** The input of an enqueued run, or of a turn. `undefined` if a tool of the run hides something. */
  readonly input: unknown;
  readonly signal: AbortSignal;
}) => unknown;

export interface ReplayResult {
  readonly runId: string;
  /** Whether `diff` is empty. */
  readonly same: boolean;
  readonly diff: readonly ReplayDifference[];
  /** How the replay ended. */
  readonly status: RunState;
  readonly error: ToolwrightError | undefined;
}

// Points up: the drivers of workflows and agents are above the test kits, and are loaded on first use.
const replaying = lazyModule(() => import("../operate/fixtures/replay-run.ts"));

/**
 * Runs the code of a recorded run on its recorded model responses and tool results, and returns what differs.
 *
 * @param fixture what `toolwright record` printed: the parsed JSON, its text, or the path of the file
 * @example
 * const { diff } = await replayRun("order.fixture.json", { workflow: orderWorkflow });
 * expect(diff).toEqual([]);
 */
export async function replayRun(
  fixture: object | string | URL,
  options: ReplayOptions = {},
): Promise<ReplayResult> {
  const { replayRun: replay } = await replaying.get();
  return replay(fixture, options);
}
