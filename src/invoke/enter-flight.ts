/** The very same call, made a second time under the key that its caller gave it: it waits for the first and finds its outcome. */
import { ToolwrightError } from "../errors.ts";
import type { Call } from "./call.ts";
import type { Wait } from "./calls-at-work.ts";
import { waitInFlight } from "./journal/wait-for-owner.ts";

/** Puts the call in flight under this name, once no other one is. Most calls have nothing to wait for. */
export function enterFlight(call: Call, name: string): Promise<void> | undefined {
  if (call.host.inFlight.has(name)) return enterAfterOthers(call, name);
  enter(call, name);
  return undefined;
}

/** The look and the entry are one step: several may wait for the same call. */
async function enterAfterOthers(call: Call, name: string): Promise<void> {
  const { inFlight, atWork } = call.host;
  for (let other = inFlight.get(name); other !== undefined; other = inFlight.get(name)) {
    const wait: Wait = { kind: "call", waiter: call, holders: () => atWork.withKey(call.key) };
    if (!atWork.wait(wait)) throw cycle(call);
    try {
      await waitInFlight(call, other.ended.promise);
    } finally {
      atWork.end(wait);
    }
  }
  enter(call, name);
}

function enter(call: Call, name: string): void {
  call.host.inFlight.set(name, call);
  call.host.atWork.add(call);
}

function cycle(call: Call): ToolwrightError {
  return new ToolwrightError(
    "TOOL_CALL_CYCLE",
    `Tool "${call.spec.name}" was called inside the very same call (callKey "${String(call.place)}"); it would wait for itself.`,
    { details: { tool: call.spec.name }, effect: "none" },
  );
}
