/**
 * Each request is a run whose id is derived from the request's key. A repeated request finds the logged run, also
 * after a restart or on another server with the same store. One process owns a run at a time, so a key never has two
 * sets of arguments.
 */
import { callKey, scopeText } from "../../../definition/call-key.ts";
import { ToolwrightError } from "../../../errors.ts";
import { textOfCall } from "../../../invoke/call-identity.ts";
import { currentScope } from "../../../invoke/call-in-context.ts";
import { invoke } from "../../../invoke/invoke.ts";
import type { Outcome } from "../../../invoke/outcome.ts";
import { hostOf } from "../../../runtime/create-runtime.ts";
import { RUN_AS, type Runtime } from "../../../runtime/runtime.ts";
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

const FIRST_DELAY_MS = 20;
const MAX_DELAY_MS = 250;

/** @throws TOOL_IDEMPOTENCY_CONFLICT if the key was used for another call */
export async function runKeyed(runtime: Runtime, request: KeyedRequest): Promise<Outcome> {
  const { key, signal } = request;
  const runId = runIdOf(key);
  for (let ms = FIRST_DELAY_MS; ; ms = Math.min(ms * 2, MAX_DELAY_MS)) {
    try {
      const task = { runId, [RUN_AS]: { kind: "tool", name: request.tool.name } };
      return await runtime.run(task, async () => {
        await refuseOtherCall(runtime, runId, request);
        return callForModel(runtime, request);
      });
    } catch (error) {
      if (!ToolwrightError.is(error) || error.code !== "TOOL_RUN_CONFLICT") throw error;
    }
    // Another process handles the same request: wait for its result.
    await systemClock.sleep(ms, signal);
  }
}

/** The client's model reads the result, so it can verify the effect of an interrupted call. */
async function callForModel(runtime: Runtime, { tool, args, key, signal }: KeyedRequest): Promise<Outcome> {
  const scope = currentScope();
  // A custom runtime has no scope here.
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
    `The idempotency key "${key}" was already used for a call of "${earlier.toolName}" with different arguments (status "${earlier.status}").`,
    {
      details: { tool: tool.name, earlier: { tool: earlier.toolName, status: earlier.status } },
      hint: "Use a new key for another call, or repeat the call with the same arguments.",
      effect: "none",
    },
  );
}
