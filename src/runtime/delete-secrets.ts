/**
 * Deletes the unredacted data that a task needs only to resume (model responses, arguments that an approver had to see) when
 * the task ends. A task of a program ends when its work has returned and nothing in it waits.
 */
import { hidesSomething } from "../invoke/storable.ts";
import type { Outcome } from "../invoke/outcome.ts";
import type { ToolSpec } from "../definition/tool-spec.ts";
import type { Scope } from "../invoke/scope.ts";
import { endProgramTask } from "../invoke/recording/keep-recording.ts";
import { forgetHiddenInput } from "../store/tables/recordings.ts";
import { coverArgumentsOfCall } from "../store/tables/retention.ts";
import { findScope } from "../store/tables/scopes.ts";
import type { Transaction } from "../store/store.ts";

/**
 * Only if the task called a tool that redacts: otherwise a repeated run still finds the responses. In a run that a worker has
 * claimed, this waits for the end of its program: if the worker dies before, the next one runs the whole program again.
 */
export async function deleteSecretsOfTask(scope: Scope): Promise<void> {
  if (!scope.holdsSecrets || scope.waiting.size > 0) return;
  const { identity, host } = scope;
  const { runId, nodeId, path } = identity;
  const task = { runId, task: { nodeId, path } };
  const ended = host.claimed.get(runId)?.ended;
  if (ended !== undefined) {
    ended.push(task);
    return;
  }
  await host.streams.beforeDeletion(runId);
  await write(scope, `secrets of ${scope.text}`, function* () {
    // Another process has taken over and still needs them.
    if ((yield* findScope(identity))?.epoch !== scope.writer.epoch) return;
    yield* endProgramTask(task);
  });
}

/** The same for a bare call. */
export async function deleteSecretsOfCall(scope: Scope, spec: ToolSpec, outcome: Outcome): Promise<void> {
  const { key } = outcome;
  const mayHide = scope.host.recording === "keep" && hidesSomething(spec);
  if (outcome.status === "pending" || key === null || (spec.digestInput === undefined && !mayHide)) return;
  await write(scope, `secrets of ${key}`, function* () {
    yield* coverArgumentsOfCall(key);
    if (mayHide) yield* forgetHiddenInput(scope.identity.runId);
  });
}

/** A failed deletion does not change the result: it is retried until the store answers. */
async function write({ host }: Scope, name: string, work: () => Transaction<void>): Promise<void> {
  try {
    await host.store.transaction(work, "normal");
  } catch {
    host.failedWrites.add(name, work);
  }
}
