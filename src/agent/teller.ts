/** Tells those who watch. What they throw is theirs, and so is what they are given: neither ends or changes anything. */
import { messageOf } from "../invoke/error-record.ts";
import type { SmartAgentEvent, Tell } from "./events.ts";
import type { InvokeOptions, SmartAgentOptions } from "./options.ts";

export function tellerOf(
  options: SmartAgentOptions,
  invoked: InvokeOptions,
  warnOnce: (topic: string, message: string) => void,
): Tell {
  const listeners = [options.onEvent, invoked.onEvent].filter((one) => one !== undefined);
  const blame = (error: unknown): void =>
    warnOnce("listener", `an event listener threw: ${messageOf(error)}`);
  return (event: SmartAgentEvent) => {
    for (const listener of listeners) {
      try {
        const returned: unknown = listener(copyOf(event));
        if (returned instanceof Promise) returned.catch(blame);
      } catch (error) {
        blame(error);
      }
    }
  };
}

/** A copy, but for what cannot be copied: what a tool says of itself may be anything. */
function copyOf(event: SmartAgentEvent): SmartAgentEvent {
  try {
    return structuredClone(event);
  } catch {
    return event;
  }
}
