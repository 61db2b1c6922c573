/** The two ways in. What they need is loaded when they are called. */
import { type OpenRuntime, useRuntime } from "../../runtime/create-runtime.ts";
import { lazyModule } from "../../util/lazy.ts";
import type { AgentLoopOptions, AgentLoopResult, AnthropicClient } from "./loop-types.ts";
import type * as Sdk from "./options.ts";

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
export async function runAgentLoop<Client extends AnthropicClient>(
  options: AgentLoopOptions<Client>,
): Promise<AgentLoopResult<Client>> {
  return run("loop", options);
}

/**
 * One turn of a chat: as `runAgentLoop`, but the same `runId` takes further turns. `messages` is the whole chat, the new
 * message last; the result's `messages` is what to go on with.
 */
export async function runChatTurn<Client extends AnthropicClient>(
  options: AgentLoopOptions<Client>,
): Promise<AgentLoopResult<Client>> {
  return run("chat", options);
}

const loopOptions = lazyModule(() => import("./options.ts"));
const loops = lazyModule(() => import("./start-loop.ts"));

async function run<Client extends AnthropicClient>(
  kind: Sdk.LoopKind,
  given: AgentLoopOptions<Client>,
): Promise<AgentLoopResult<Client>> {
  // The loop knows the types of the SDK; to callers, they are those of their client.
  const options = given as unknown as Sdk.AgentLoopOptions;
  const { runtime } = options ?? {};
  const start = async (opened?: OpenRuntime): Promise<AgentLoopResult<Client>> => {
    const { checkLoopOptions } = await loopOptions.get();
    checkLoopOptions(kind, options);
    const { startLoop } = await loops.get();
    const result: unknown = await startLoop(kind, options, opened);
    return result as AgentLoopResult<Client>;
  };
  // Taken before anything is awaited: its maker may dispose of it as soon as this function has returned a promise.
  return runtime === undefined ? start() : useRuntime(runtime, start);
}
