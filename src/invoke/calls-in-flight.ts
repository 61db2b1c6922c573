/** Lets a second call with the same `callKey` wait for the first, and then find its outcome. */
import { ToolwrightError } from "../errors.ts";
import type { Call } from "./call.ts";
import type { Wait } from "./wait-graph.ts";
import { waitInFlight } from "./journal/wait-for-owner.ts";

/** Registers the call as in flight once no other call has its key. `undefined` if there is nothing to wait for. */
export function enterFlight(call: Call): Promise<void> | undefined {
  const { host, key, scope } = call;
  if (host.waitGraph.find(key, scope.attempt) !== undefined) return enterAfterOthers(call);
  host.waitGraph.add(call);
  return undefined;
}

/** The check and the entry are one synchronous step: several calls may wait for the same one. */
async function enterAfterOthers(call: Call): Promise<void> {
  const { host, key, scope } = call;
  const { waitGraph } = host;
  for (;;) {
    const other = waitGraph.find(key, scope.attempt);
    if (other === undefined) break;
    const wait: Wait = { kind: "call", waiter: call, holders: () => waitGraph.withKey(key) };
    if (!waitGraph.wait(wait)) throw cycle(call);
    try {
      await waitInFlight(call, other.ended.promise);
    } finally {
      waitGraph.end(wait);
    }
  }
  waitGraph.add(call);
}

function cycle(call: Call): ToolwrightError {
  return new ToolwrightError(
    "TOOL_CALL_CYCLE",
    `Tool "${call.spec.name}" was called inside the same call (callKey "${String(call.callIndex)}"); it would wait for itself.`,
    { details: { tool: call.spec.name }, effect: "none" },
  );
}
