/** Sentences about calls in progress, and about those whose outcome is unknown. */
import { howItEnded } from "../invoke/journal/describe-interrupted.ts";
import type { Store } from "../store/store.ts";
import { type LoggedCall, readCallLog } from "../store/tables/call-log.ts";
import { toShortText } from "../terminal/readable.ts";
import { toShownStored } from "../util/truncate.ts";
import { livenessIn } from "./run-owner.ts";

const MOST_CALLS = 20;

/** Reads only the calls that it describes: a run may have many long outputs. */
export async function describeOpenCalls(store: Store, runId: string): Promise<string[]> {
  const isAlive = livenessIn(store);
  const started = await readCallLog(store, { runId, status: "started", limit: MOST_CALLS }, isAlive);
  const unknown = await readCallLog(store, { runId, status: "unknown", limit: MOST_CALLS }, isAlive);
  return [
    ...started.map((call) => `It is running a call of ${describeCall(call)}.`),
    ...unknown.map(
      (call) => `The outcome of its call of ${describeCall(call)} is unknown: it ${howItEnded(call)}.`,
    ),
  ];
}

export function describeCall({ toolName, nodeId, inputJson }: LoggedCall): string {
  const input = inputJson === null ? "nothing" : toShownStored(inputJson);
  return `"${toolName}" in task "${nodeId}" with ${toShortText(input, 80)}`;
}
