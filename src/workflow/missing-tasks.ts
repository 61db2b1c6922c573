/**
 * Warns about tasks with unrepeatable calls that a changed workflow no longer contains. A renamed task is a new task:
 * it repeats its calls, since the logged ones belong to the old id.
 */
import { type CallOfTask, listUnrepeatableCalls } from "../store/tables/earlier-calls.ts";
import { saveRunOptions } from "../store/tables/workflow-runs.ts";
import { encode } from "../util/encode.ts";
import type { Plan } from "./plan.ts";
import type { RunState } from "./run-state.ts";

/** For a run that is resumed with changes, before any task starts. */
export async function warnAboutMissingTasks(run: RunState, plan: Plan): Promise<void> {
  const { host, runId, epoch, outline } = run;
  const calls = await host.store.read(() => listUnrepeatableCalls(runId));
  const missing = calls.filter(({ nodeId }) => !plan.tasks.has(nodeId));
  if (missing.length === 0 && outline.options.missingTasks === undefined) return;
  const missingTasks = [...new Set(missing.map(({ nodeId }) => nodeId))];
  // Stored for `toolwright why`.
  const options = { ...outline.options, sagas: outline.sagas.toStored(), missingTasks };
  await host.store.transaction(() => saveRunOptions(runId, epoch, encode(options)), "normal");
  outline.options = options;
  if (missing.length === 0) return;
  run.emit({ type: "tasks-missing", calls: missing });
  host.warnOnce(`missing tasks of ${runId}`, `run "${runId}": ${describeMissing(missing)}`);
}

export function describeMissing(calls: readonly CallOfTask[]): string {
  const tasks = Map.groupBy(calls, ({ nodeId }) => nodeId);
  const parts = [...tasks].map(
    ([nodeId, taskCalls]) =>
      `"${nodeId}" (${taskCalls.map(({ toolName, status }) => `${toolName}: ${status}`).join(", ")})`,
  );
  return (
    `the workflow no longer contains these tasks, whose calls must not be repeated: ${parts.join("; ")}. ` +
    "A renamed task makes its calls again. Keep the ids of tasks that have started."
  );
}
