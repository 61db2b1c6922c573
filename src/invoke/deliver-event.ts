/**
 * Delivers events to listeners, for every `subscribe`, `onEvent` and `onProgress`. A listener only observes: it may throw,
 * reject, change its event or call tools, and none of that affects the run.
 */
import { runOutsideFrames } from "../definition/context.ts";
import { messageOf } from "./error-record.ts";
import type { EventEnvelope, RunEventDetails, RuntimeEvent } from "./events.ts";
import type { Host } from "./host.ts";
import type { Scope } from "./scope.ts";

/** Writes a warning to standard error, once for each topic. */
export type WarnOnce = (topic: string, message: string) => void;

/** The constant part of the envelope of events from one source. */
export type EventSource = Omit<EventEnvelope, "at" | "key">;

/** Emits events of a run to the listeners of the runtime, and to the listeners of the loop or workflow itself. */
export function createEmitter(
  host: Pick<Host, "isWatched" | "emit" | "clock" | "warnOnce">,
  source: EventSource,
  own: readonly ((event: never) => unknown)[] = [],
): (details: RunEventDetails) => void {
  return (details) => {
    if (own.length === 0 && !host.isWatched()) return;
    const event = { ...source, at: host.clock.now(), ...details } as RuntimeEvent;
    host.emit(event);
    deliverEvent(own as readonly ((event: RuntimeEvent) => unknown)[], event, host.warnOnce);
  };
}

export function sourceOf({ identity, attempt, kind }: Scope): EventSource {
  const { runId, nodeId, iteration, parentKey } = identity;
  return { runId, kind, nodeId, iteration, attempt, ...(parentKey === "" ? {} : { parentKey }) };
}

/** Each listener receives a copy, in order. A promise that a listener returns is not awaited. */
export function deliverEvent<Event>(
  listeners: Iterable<(event: Event) => unknown>,
  event: Event,
  warnOnce: WarnOnce,
): void {
  const report = (error: unknown): void => warnOnce("listener", `an event listener failed: ${textOf(error)}`);
  // A copy of the list: a listener that subscribes another one must not extend this loop.
  for (const listener of Array.from(listeners)) {
    try {
      // A tool that a listener calls does not belong to the call that the event is about.
      const returned = runOutsideFrames(() => listener(copyOf(event)));
      // Any thenable: promises of other realms and libraries may reject too.
      if (typeof returned === "object" && returned !== null) {
        Promise.resolve(returned).then(undefined, report);
      }
    } catch (error) {
      report(error);
    }
  }
}

/** An event that cannot be cloned, such as one with a function in its progress data, is passed as it is. */
function copyOf<Event>(event: Event): Event {
  try {
    return structuredClone(event);
  } catch {
    return event;
  }
}

/** Reporting an error must not throw, whatever was thrown. */
function textOf(error: unknown): string {
  try {
    return messageOf(error);
  } catch {
    return "the error cannot be read";
  }
}
