/**
 * One request is one run, named by the request's key: sent again, after a restart or to another server on the same
 * store, it is found on record. One process has a run at a time, so that a key never stands for two sets of arguments.
 */
import { callKey, scopeText } from "../../../definition/call-key.ts";
import { ToolwrightError } from "../../../errors.ts";
import { textOfCall } from "../../../invoke/call.ts";
import { scopeHere } from "../../../invoke/call-here.ts";
import { invoke } from "../../../invoke/invoke.ts";
import type { Outcome } from "../../../invoke/outcome.ts";
import { hostOf } from "../../../runtime/create-runtime.ts";
import type { Runtime } from "../../../runtime/runtime.ts";
import { specOf } from "../../../tool/create-callable.ts";
import type { Tool } from "../../../tool/tool.ts";
import { systemClock } from "../../../util/clock.ts";
import { digest } from "../../../util/hash.ts";

export interface KeyedRequest {
  readonly tool: Tool;
  readonly args: unknown;
  readonly key: string;
  readonly signal: AbortSignal;
}

export function runIdOf(key: string): string {
  return `mcp-${digest(["mcp request", key])}`;
}

const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 250;

/** @throws TOOL_IDEMPOTENCY_CONFLICT where the key was used for another call */
export async function runKeyed(runtime: Runtime, request: KeyedRequest): Promise<Outcome> {
  const { key, signal } = request;
  const runId = runIdOf(key);
  for (let ms = FIRST_PAUSE_MS; ; ms = Math.min(ms * 2, LONGEST_PAUSE_MS)) {
    try {
      return await runtime.run({ runId }, async () => {
        await refuseOtherCall(runtime, runId, request);
        return callForModel(runtime, request);
      });
    } catch (error) {
      if (!ToolwrightError.is(error) || error.code !== "TOOL_RUN_CONFLICT") throw error;
    }
    // The same request is at work elsewhere: its answer is waited for.
    await systemClock.sleep(ms, signal);
  }
}

/** What comes back is read by the client's model, which can find out what became of an interrupted call. */
async function callForModel(runtime: Runtime, { tool, args, key, signal }: KeyedRequest): Promise<Outcome> {
  const scope = scopeHere();
  // A runtime of another kind runs calls in its own way.
  if (scope === undefined) return runtime.call(tool, args, { callKey: key, signal });
  return invoke(scope, specOf(tool), args, { callKey: key, signal, readByModel: true });
}

async function refuseOtherCall(
  runtime: Runtime,
  runId: string,
  { tool, args, key }: KeyedRequest,
): Promise<void> {
  const calls = await runtime.calls({ runId });
  const earlier = calls.find(({ parentKey }) => parentKey === "");
  if (earlier === undefined) return;
  const { store } = await hostOf(runtime);
  const scope = scopeText({ runId, nodeId: "main", iteration: 0, path: "0", parentKey: "" });
  if (earlier.key === callKey(scope, key, textOfCall(specOf(tool), args, store.secret))) return;
  throw new ToolwrightError(
    "TOOL_IDEMPOTENCY_CONFLICT",
    `The idempotency key "${key}" was used before for a call of "${earlier.toolName}" with other arguments (that call is "${earlier.status}").`,
    {
      details: { tool: tool.name, earlier: { tool: earlier.toolName, status: earlier.status } },
      hint: "Send another key for another call, or the same arguments for the same call.",
      effect: "none",
    },
  );
}
