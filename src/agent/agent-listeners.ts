/** Listeners for the events of an agent and of its sub-agents. */
import { AsyncLocalStorage } from "node:async_hooks";
import { sharedByCopies } from "../definition/package-copy.ts";
import { createEmitter, deliverEvent, type EventSource, sourceOf } from "../invoke/deliver-event.ts";
import type { RuntimeEvent } from "../invoke/events.ts";
import type { Host } from "../invoke/host.ts";
import type { Scope } from "../invoke/scope.ts";
import type { Emit, SmartAgentEvent } from "./events.ts";
import type { InvokeOptions, SmartAgentOptions } from "./options.ts";

type Listener = (event: SmartAgentEvent) => unknown;

/** The listeners of one running agent. */
export interface Watched {
  readonly listeners: readonly Listener[];
  readonly isStreamed: boolean;
}

export function listenersOf(options: SmartAgentOptions, invoked: InvokeOptions): readonly Listener[] {
  return [options.onEvent, invoked.onEvent].filter((one) => one !== undefined);
}

export function emitterOf(host: Host, source: EventSource, { listeners }: Watched): Emit {
  return createEmitter(host, source, listeners);
}

/** Passes an event of the runtime on, such as one of a call, to the listeners of the agent that made the call. */
export function forward(host: Host, { listeners }: Watched, event: RuntimeEvent): void {
  deliverEvent(listeners, event, host.warnOnce);
}

/** The listeners of the running agent, for its sub-agents. */
const watchers = sharedByCopies("agent listeners.2", () => new AsyncLocalStorage<Watched>());

export function whileWatched<T>(watched: Watched, work: () => Promise<T>): Promise<T> {
  return watchers.run(watched, work);
}

/** The listeners of the outer agent receive the events of an agent inside one of its calls as well, wrapped. */
export function watchedInside(
  scope: Scope,
  own: readonly Listener[],
  isStreamed: boolean | undefined,
): Watched {
  const around = watchers.getStore();
  const call = scope.parent;
  if (around === undefined || call === undefined) return { listeners: own, isStreamed: isStreamed ?? false };
  const source = sourceOf(call.scope);
  const wrap: Listener = (event) =>
    deliverEvent(
      around.listeners,
      { ...source, at: event.at, type: "sub_agent", name: call.spec.name, executionId: call.key, event },
      scope.host.warnOnce,
    );
  return {
    isStreamed: isStreamed ?? around.isStreamed,
    listeners: around.listeners.length === 0 ? own : [...own, wrap],
  };
}
