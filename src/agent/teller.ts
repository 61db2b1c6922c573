/** Who receives the events of an agent, and of the agents inside its calls. */
import { AsyncLocalStorage } from "node:async_hooks";
import { sharedByCopies } from "../definition/package-copy.ts";
import { deliverEvent, type WarnOnce } from "../invoke/deliver-event.ts";
import type { Scope } from "../invoke/scope.ts";
import type { Tell } from "./events.ts";
import type { InvokeOptions, SmartAgentOptions } from "./options.ts";

export function tellerOf(options: SmartAgentOptions, invoked: InvokeOptions, warnOnce: WarnOnce): Tell {
  const listeners = [options.onEvent, invoked.onEvent].filter((one) => one !== undefined);
  return (event) => deliverEvent(listeners, event, warnOnce);
}

export interface Watched {
  readonly tell: Tell;
  readonly isStreamed: boolean;
}

/** Those who watch the agent that is at work, for the agents that are tools of it. */
const watchers = sharedByCopies("agent listeners.1", () => new AsyncLocalStorage<Watched>());

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
