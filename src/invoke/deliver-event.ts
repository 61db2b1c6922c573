/**
 * The one way from an emitter to a listener, for every `subscribe`, `onEvent` and `onProgress`. A listener only observes:
 * it may throw, reject, change what it receives or call tools, and none of that reaches the run.
 */
import { runOutsideFrames } from "../definition/context.ts";
import { messageOf } from "./error-record.ts";
import type { EventEnvelope, RunEventDetails, RuntimeEvent } from "./events.ts";
import type { Host } from "./host.ts";
import type { Scope } from "./scope.ts";

/** Writes a warning to standard error, once for each topic. */
export type WarnOnce = (topic: string, message: string) => void;

/** Where events come from: the part of their envelope that stays the same. */
export type EventSource = Omit<EventEnvelope, "at" | "key">;

/** Emits in the name of a run: to the listeners of the runtime, and to those of the loop or workflow itself. */
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
