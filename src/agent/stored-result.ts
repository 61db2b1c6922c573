/** The result of an invoke as it is stored for repeated invokes. Its field names are part of the stored format. */
import type { AgentEnd, AgentSetup } from "./drive-agent.ts";
import type { AgentMessage } from "../model/messages.ts";
import type { AgentStop } from "./options.ts";
import type { AgentState, AgentUsage, ContextState } from "./state.ts";
import type { Plan } from "../invoke/events.ts";

export interface StoredResult {
  readonly status: AgentState["status"];
  readonly stop: AgentStop;
  readonly content: string;
  readonly output?: { readonly value: unknown } | undefined;
  readonly outputError?: string | undefined;
  readonly budget?: string | undefined;
  /** The added messages. */
  readonly added: readonly AgentMessage[];
  /** The number of messages after it, and their hash. */
  readonly end: { readonly count: number; readonly hash: string };
  readonly plan: Plan;
  readonly context: ContextState | null;
  readonly usage: AgentUsage;
  /** Runs that this one branched off from, oldest first. Absent in results of 0.1, and of agents inside a call or a task. */
  readonly ancestors?: readonly string[] | undefined;
}

export function toStoredResult(end: AgentEnd, { history, tools, window }: AgentSetup): StoredResult {
  const { stop, content, output, outputError, budget, usage } = end;
  return {
    status: statusOf(end),
    stop,
    content,
    ...(output === undefined ? {} : { output }),
    ...(outputError === undefined ? {} : { outputError }),
    ...(budget === undefined ? {} : { budget }),
    added: history.added,
    end: { count: history.stored.length, hash: history.hash },
    plan: tools.plans.plan,
    context: window.state,
    usage,
  };
}

function statusOf({ stop, outputError }: AgentEnd): StoredResult["status"] {
  if (stop === "approval") return "waiting";
  const isFailure = stop === "cut" || stop === "refused" || stop === "no-output";
  return isFailure || outputError !== undefined ? "failed" : "finished";
}
