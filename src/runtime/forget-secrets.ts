/**
 * What a task needs in clear to resume (responses of models, arguments that a person had to see) goes with its end. A task
 * of a program ends when its work has returned and nothing in it waits.
 */
import type { ToolSpec } from "../definition/tool-spec.ts";
import type { Outcome } from "../invoke/outcome.ts";
import type { Scope } from "../invoke/scope.ts";
import { coverArgumentsOfCall, forgetReplayOfTask } from "../store/tables/retention.ts";
import { findScope } from "../store/tables/scopes.ts";
import type { Transaction } from "../store/store.ts";

/** Only where a tool was called that has something to hide: otherwise a repeated run finds the responses. */
export async function forgetSecretsOfTask(scope: Scope): Promise<void> {
  if (!scope.holdsSecrets || scope.waiting.size > 0) return;
  const { identity } = scope;
  const { runId, nodeId, path } = identity;
  await write(scope, `secrets of ${scope.text}`, function* () {
    // Whoever has taken it over still needs them.
    if ((yield* findScope(identity))?.epoch !== scope.writer.epoch) return;
    yield* forgetReplayOfTask(runId, nodeId, path);
  });
}

/** The same for a call that a program makes by itself. */
export async function forgetSecretsOfCall(scope: Scope, spec: ToolSpec, outcome: Outcome): Promise<void> {
  const { key } = outcome;
  if (spec.digestInput === undefined || outcome.status === "pending" || key === null) return;
  await write(scope, `secrets of ${key}`, function* () {
    yield* coverArgumentsOfCall(key);
  });
}

/** The result counts. What could not be deleted is deleted as soon as the store answers. */
async function write({ host }: Scope, name: string, work: () => Transaction<void>): Promise<void> {
  try {
    await host.store.transaction(work, "normal");
  } catch {
    host.failedWrites.add(name, work);
  }
}
