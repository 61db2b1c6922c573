/** The two entry points. Their dependencies are loaded on the first call. */
import { type OpenRuntime, useRuntime } from "../../runtime/create-runtime.ts";
import { lazyModule } from "../../util/lazy.ts";
import type { AgentLoopOptions, AgentLoopResult, AnthropicClient } from "./loop-types.ts";
import type * as Sdk from "./options.ts";

/**
 * Runs a model with tools until it stops calling them, calls a terminal one, or waits for approval. The same `runId`
 * and `messages` resume the loop; if it has ended, its stored result is returned.
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
 * Runs one turn of a chat. It works as `runAgentLoop`, but one `runId` has many turns. `messages` is the whole chat,
 * with the new message last; pass the result's `messages` to the next turn.
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
  // Internally the loop uses the types of the SDK; callers see the types of their client.
  const options = given as unknown as Sdk.AgentLoopOptions;
  const { runtime } = options ?? {};
  const start = async (opened?: OpenRuntime): Promise<AgentLoopResult<Client>> => {
    const { checkLoopOptions } = await loopOptions.get();
    checkLoopOptions(kind, options);
    const { startLoop } = await loops.get();
    const result: unknown = await startLoop(kind, options, opened);
    return result as AgentLoopResult<Client>;
  };
  // Before the first await: the caller may dispose the runtime as soon as this function has returned its promise.
  return runtime === undefined ? start() : useRuntime(runtime, start);
}
