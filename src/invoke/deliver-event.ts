/**
 * The one way from an emitter to a listener, for every `subscribe`, `onEvent` and `onProgress`. A listener only observes:
 * it may throw, reject, change what it receives or call tools, and none of that reaches the run.
 */
import { runOutsideFrames } from "../definition/context.ts";
import { messageOf } from "./error-record.ts";

/** Writes a warning to standard error, once for each topic. */
export type WarnOnce = (topic: string, message: string) => void;

/** Each listener receives a copy, in the order of the list. Nothing waits for what a listener returns. */
export function deliverEvent<Event>(
  listeners: Iterable<(event: Event) => unknown>,
  event: Event,
  warnOnce: WarnOnce,
): void {
  const report = (error: unknown): void => warnOnce("listener", `an event listener failed: ${textOf(error)}`);
  // A snapshot: a listener that subscribes another one must not keep this loop going.
  for (const listener of Array.from(listeners)) {
    try {
      // A tool that a listener calls is no part of the call that is being reported on.
      const returned = runOutsideFrames(() => listener(copyOf(event)));
      // Any thenable: promises of other realms and libraries reject too.
      if (typeof returned === "object" && returned !== null) {
        Promise.resolve(returned).then(undefined, report);
      }
    } catch (error) {
      report(error);
    }
  }
}

/** What cannot be cloned, such as a function in the data of a tool's own progress, is passed as it is. */
function copyOf<Event>(event: Event): Event {
  try {
    return structuredClone(event);
  } catch {
    return event;
  }
}

/** Whatever was thrown, reporting it must not throw. */
function textOf(error: unknown): string {
  try {
    return messageOf(error);
  } catch {
    return "the error cannot be read";
  }
}
