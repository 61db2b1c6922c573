/** The two ways in. What they need is loaded when they are called. */
import { type OpenRuntime, useRuntime } from "../../runtime/create-runtime.ts";
import { lazyModule } from "../../util/lazy.ts";
import type { AgentLoopOptions, AgentLoopResult, LoopKind } from "./options.ts";

/**
 * Lets a model work with tools until it stops calling them, calls a terminal one, or has to wait for a person. Under the
 * same `runId` and `messages` it goes on where it was; a loop that has ended is answered from the record.
 *
 * @example
 * const result = await runAgentLoop({
 *   client: new Anthropic(),
 *   model: "claude-sonnet-5-5",
 *   messages: [{ role: "user", content: "Order apples, then say so." }],
 *   tools: [placeOrder],
 *   runtime,
 *   runId: "monday",
 * });
 * @throws TOOL_ABORTED when the signal fires, TOOL_RUN_TAKEN when the run id belongs to another input
 */
export async function runAgentLoop(options: AgentLoopOptions): Promise<AgentLoopResult> {
  return run("loop", options);
}

/**
 * One turn of a chat: as `runAgentLoop`, but the same `runId` takes further turns. `messages` is the whole chat, the new
 * message last; the result's `messages` is what to go on with.
 */
export async function runChatTurn(options: AgentLoopOptions): Promise<AgentLoopResult> {
  return run("chat", options);
}

const loopOptions = lazyModule(() => import("./options.ts"));
const loops = lazyModule(() => import("./start-loop.ts"));

async function run(kind: LoopKind, options: AgentLoopOptions): Promise<AgentLoopResult> {
  const { runtime } = options ?? {};
  const start = async (opened?: OpenRuntime): Promise<AgentLoopResult> => {
    const { checkLoopOptions } = await loopOptions.get();
    checkLoopOptions(kind, options);
    const { startLoop } = await loops.get();
    return startLoop(kind, options, opened);
  };
  // Taken before anything is awaited: its maker may dispose of it as soon as this function has returned a promise.
  return runtime === undefined ? start() : useRuntime(runtime, start);
}
