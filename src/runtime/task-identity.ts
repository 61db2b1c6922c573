/** Reads the identity of a task from a caller's options: the run, the task, the indexes of its loops, the attempt. */
import type { ScopeIdentity } from "../definition/call-key.ts";
import { describe, isPromise } from "../definition/option-checks.ts";
import { checkOptions } from "../definition/option-table.ts";
import { pathOf } from "../invoke/scope.ts";
import { isTooLongForId, LONGEST_ID_BYTES } from "../util/storable-text.ts";
import { RUN_OPTIONS } from "./method-options.ts";
import { checkId, refusal } from "./options.ts";
import type { RunScopeOptions, TaskIdentity } from "./runtime.ts";

export function checkRunOptions(task: RunScopeOptions, work: unknown): void {
  checkOptions(RUN_OPTIONS, task);
  if (typeof work !== "function") {
    const given = isPromise(work) ? "a promise: what it does is not in the run" : describe(work);
    throw refusal(
      "work",
      `must be a function, not ${given}. Write runtime.run({ runId }, () => agent.generate(…))`,
    );
  }
  identityOf(task);
}

export function identityOf(task: TaskIdentity): { identity: ScopeIdentity; attempt: number } {
  const { runId, nodeId = "main", iteration = task.loopPath?.at(-1) ?? 0, attempt = 1 } = task;
  checkId("runId", runId);
  checkId("nodeId", nodeId);
  if (!isCount(iteration)) throw refusal("iteration", "must be a whole number from 0");
  if (!isCount(attempt) || attempt < 1) throw refusal("attempt", "must be a whole number from 1");
  if (task.loopPath?.every(isCount) === false)
    throw refusal("loopPath", "must be an array of integers of at least 0");
  const { turn } = task as RunScopeOptions;
  if (turn !== undefined && (!isCount(turn) || turn < 1))
    throw refusal("turn", `must be a whole number from 1, not ${JSON.stringify(turn)}`);
  const path = pathOf(task.loopPath ?? [iteration], turn);
  if (isTooLongForId(path))
    throw refusal("loopPath", `must be at most ${LONGEST_ID_BYTES} bytes long as text`);
  return { identity: { runId, nodeId, iteration, path, parentKey: "" }, attempt };
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
