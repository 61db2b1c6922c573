/** The span of an activation of a program or of a turn of an agent. A single call has only its own span. */
import { ToolwrightError } from "../errors.ts";
import type { RunKind } from "../invoke/events.ts";
import type { Host } from "../invoke/host.ts";
import type { Work, WorkEnd } from "../invoke/telemetry.ts";
import { linkToRun, nameOf, traceWork } from "../invoke/trace-work.ts";
import type { AgentTurn } from "./store-runtime.ts";

export interface TracedRun<T> {
  readonly task: {
    readonly runId: string;
    readonly nodeId?: string | undefined;
    readonly attempt?: number | undefined;
  };
  readonly kind: RunKind;
  readonly name: string;
  readonly turn: AgentTurn<T> | undefined;
}

/** @param run receives a function that it calls once the run is in the store */
export function traceRun<T>(
  host: Host,
  { task, kind, name, turn }: TracedRun<T>,
  run: (link: () => Promise<void>) => Promise<T>,
): Promise<T> {
  if (host.telemetry === undefined || kind === "tool") return run(async () => undefined);
  const { runId, nodeId, attempt } = task;
  const location = { runId, kind, nodeId, attempt };
  const work: Work =
    turn === undefined ? { type: "workflow", name, location } : { type: "agent", location, ...turn.about };
  return traceWork(host, work, run, {
    linkTo: linkToRun(host, runId),
    endOf: (result) => endOfTurn(turn, result),
  });
}

/** A turn that returns a result may have failed. */
function endOfTurn<T>(turn: AgentTurn<T> | undefined, result: T): WorkEnd {
  const status = turn?.statusOf?.(result);
  const failure = turn?.failureOf?.(result);
  if (failure === undefined) return { status };
  return { status, errorType: ToolwrightError.is(failure) ? failure.code : nameOf(failure) };
}
