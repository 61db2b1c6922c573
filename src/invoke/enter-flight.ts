/** Lets a second call with the same `callKey` wait for the first, and then find its outcome. */
import { ToolwrightError } from "../errors.ts";
import type { Call } from "./call.ts";
import type { Wait } from "./wait-graph.ts";
import { waitInFlight } from "./journal/wait-for-owner.ts";

/** Registers the call as in flight once no other call has its name. `undefined` if there is nothing to wait for. */
export function enterFlight(call: Call, name: string): Promise<void> | undefined {
  if (call.host.inFlight.has(name)) return enterAfterOthers(call, name);
  enter(call, name);
  return undefined;
}

/** The check and the entry are one synchronous step: several calls may wait for the same one. */
async function enterAfterOthers(call: Call, name: string): Promise<void> {
  const { inFlight, waitGraph } = call.host;
  for (let other = inFlight.get(name); other !== undefined; other = inFlight.get(name)) {
    const wait: Wait = { kind: "call", waiter: call, holders: () => waitGraph.withKey(call.key) };
    if (!waitGraph.wait(wait)) throw cycle(call);
    try {
      await waitInFlight(call, other.ended.promise);
    } finally {
      waitGraph.end(wait);
    }
  }
  enter(call, name);
}

function enter(call: Call, name: string): void {
  call.host.inFlight.set(name, call);
  call.host.waitGraph.add(call);
}

function cycle(call: Call): ToolwrightError {
  return new ToolwrightError(
    "TOOL_CALL_CYCLE",
    `Tool "${call.spec.name}" was called inside the same call (callKey "${String(call.callIndex)}"); it would wait for itself.`,
    { details: { tool: call.spec.name }, effect: "none" },
  );
}
