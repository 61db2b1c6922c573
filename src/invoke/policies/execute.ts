/** Runs the tool itself. From here on something may happen outside, so the lease is looked at one last time. */
import { ToolwrightError } from "../../errors.ts";
import { runInAmbient } from "../ambient.ts";
import { type Call, tell } from "../call.ts";
import { toToolwrightError } from "../error-record.ts";
import { withoutInnerEffect } from "../told-errors.ts";
import type { CallCapabilities } from "../host.ts";
import type { Result } from "../outcome.ts";
import type { Policy } from "../policy.ts";
import { fenced } from "../record/rows.ts";
import { maskOutput } from "../redact.ts";
import { createToolContext } from "../tool-context.ts";

export const execute: Policy = async (call) => {
  const { host, spec, scope } = call;
  let capabilities: CallCapabilities | undefined;
  try {
    capabilities = await capabilitiesFor(call);
    // A process that was stopped for long has been taken for dead: its successor may be at work.
    if (host.isLeaseLost()) throw fenced(call);
    const ctx = createToolContext(call, { ...capabilities?.values, ...call.capabilities });
    // What others looked at, the tool has not read.
    if (!call.executed) call.keyRead = false;
    call.executed = true;
    call.executing = true;
    call.tries += 1;
    const output = await runInAmbient({ scope, call }, ctx, async () =>
      lastOf(call, spec.execute(call.input, ctx)),
    );
    return pendingInside(call) ?? { kind: "success", output };
  } catch (thrown) {
    const error = withoutInnerEffect(toToolwrightError(thrown, spec.name));
    return pendingInside(call) ?? { kind: "error", error };
  } finally {
    call.executing = false;
    await dispose(call, capabilities);
  }
};

/** The effect has happened or not; a connection that cannot be closed changes nothing about that. */
async function dispose(call: Call, capabilities: CallCapabilities | undefined): Promise<void> {
  try {
    await capabilities?.dispose();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    call.host.warnOnce("dispose", `a capability could not be disposed after "${call.spec.name}": ${message}`);
  }
}

/** An inner call that waits makes this one wait, even if the tool swallowed the news. */
function pendingInside(call: Call): Result | undefined {
  return call.innerPending === undefined ? undefined : { kind: "pending", approval: call.innerPending };
}

/** A generator's last yield is the result, as in the AI SDK; the earlier ones are progress. */
async function lastOf(call: Call, returned: unknown): Promise<unknown> {
  const value: unknown = await returned;
  if (typeof value !== "object" || value === null || !(Symbol.asyncIterator in value)) return value;
  let last: unknown;
  for await (const item of value as AsyncIterable<unknown>) {
    last = item;
    const masked = maskOutput(call.spec, item, call.host.store.secret);
    tell(call, { type: "call-progress", message: "", data: masked });
  }
  return last;
}

async function capabilitiesFor(call: Call): Promise<CallCapabilities | undefined> {
  const { host, spec, scope } = call;
  try {
    return await host.capabilitiesFor?.({ runId: scope.identity.runId, toolName: spec.name });
  } catch (cause) {
    throw new ToolwrightError(
      "TOOL_EXECUTION_FAILED",
      `The capabilities for "${spec.name}" could not be made.`,
      {
        details: { tool: spec.name },
        effect: "none",
        cause,
      },
    );
  }
}
