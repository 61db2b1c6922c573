/** Outputs of equal tasks of earlier runs, for tasks that ask for it: the same work on the same things. */
import { readCache, writeCache } from "../store/tables/cache.ts";
import { canonicalText } from "../util/canonical.ts";
import { decode, encode } from "../util/encode.ts";
import { sha256 } from "../util/hash.ts";
import type { RunState } from "./run-state.ts";
import { dependencyState, type TaskInstance } from "./walk-plan.ts";

export async function readCachedOutput(
  run: RunState,
  task: TaskInstance,
): Promise<{ output: unknown } | undefined> {
  if (task.props.cache !== true) return undefined;
  const stored = await run.host.store.read(() => readCache(keyOf(run, task), run.host.clock.now()));
  return stored === undefined ? undefined : { output: decode(stored) };
}

export async function writeCachedOutput(run: RunState, task: TaskInstance, output: unknown): Promise<void> {
  if (task.props.cache !== true) return;
  await run.host.store.transaction(() => writeCache(keyOf(run, task), encode(output), null), "normal");
}

/** What the output depends on: the task, what it is asked or computes, and what it is handed. */
function keyOf(run: RunState, { props, loop }: TaskInstance) {
  const child = typeof props.children === "function" ? String(props.children) : props.children;
  const deps = Object.keys(props.deps ?? {}).map((id) => [id, dependencyState(run.states, id, loop)?.output]);
  const basis = canonicalText([props.id, props.output?.key, props.instructions, child, deps]);
  return { runId: "", toolName: `task:${run.workflow}`, cacheKey: sha256(basis) };
}
