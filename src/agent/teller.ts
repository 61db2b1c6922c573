/** Tells those who watch. What they throw is theirs, and so is what they are given: neither ends or changes anything. */
import { AsyncLocalStorage } from "node:async_hooks";
import { messageOf } from "../invoke/error-record.ts";
import type { Scope } from "../invoke/scope.ts";
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

export interface Watched {
  readonly tell: Tell;
  readonly isStreamed: boolean;
}

/** Those who watch the agent that is at work, for the agents that are tools of it. */
const watchers = new AsyncLocalStorage<Watched>();

export function whileWatched<T>({ tell, isStreamed }: Watched, work: () => Promise<T>): Promise<T> {
  return watchers.run({ tell, isStreamed }, work);
}

/** What an agent inside of another's call tells is told to those who watch the other as well. */
export function watchedInside(scope: Scope, own: Tell, isStreamed: boolean | undefined): Watched {
  const around = watchers.getStore();
  const call = scope.parent;
  if (around === undefined || call === undefined) return { tell: own, isStreamed: isStreamed ?? false };
  return {
    isStreamed: isStreamed ?? around.isStreamed,
    tell: (event) => {
      own(event);
      around.tell({ type: "sub_agent", name: call.spec.name, executionId: call.key, event });
    },
  };
}
