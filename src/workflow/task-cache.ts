/** Reuses the output of an equal task in an earlier run, for tasks with `cache`. */
import { readCache, writeCache } from "../store/tables/cache.ts";
import { canonicalText } from "../util/canonical.ts";
import { decode, encode } from "../util/encode.ts";
import { sha256 } from "../util/hash.ts";
import type { RunState } from "./run-state.ts";
import { dependencyOutputs, type TaskInstance } from "./task-instance.ts";

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

/** The output depends on the task, its prompt or function, and the outputs of its dependencies. */
function keyOf(run: RunState, task: TaskInstance) {
  const { props } = task;
  const child = typeof props.children === "function" ? String(props.children) : props.children;
  const deps = Object.entries(dependencyOutputs(run.states, task));
  const basis = canonicalText([props.id, props.output?.key, props.instructions, child, deps]);
  return { runId: "", toolName: `task:${run.workflow}`, cacheKey: sha256(basis) };
}
