/** The effects of one task of a run and of everything after it. */
import { refusal } from "../runtime/options.ts";
import type { Store } from "../store/store.ts";
import type { EffectRow } from "../store/tables/reverts.ts";
import { readRootScopes } from "../store/tables/run-pages.ts";
import { readTaskHeads } from "../store/tables/tasks.ts";
import { listTasks, parseTaskName } from "./task-names.ts";

const MOST_SCOPES = 10_000;

type Select = (effects: readonly EffectRow[]) => readonly EffectRow[];

/** @param from a task, or `task[pass]` @throws TOOL_OPTION_INVALID if the run has no such task */
export async function selectFrom(store: Store, runId: string, from: string | undefined): Promise<Select> {
  if (from === undefined) return (effects) => effects;
  const { tasks, scopes } = await store.read(function* () {
    return { tasks: yield* readTaskHeads(runId), scopes: yield* readRootScopes(runId, MOST_SCOPES) };
  });
  const known = [...tasks, ...scopes];
  const location = parseTaskName(from, known);
  if (location === undefined)
    throw refusal("from", `must be a task of run "${runId}", not "${from}". ${listTasks(known)}`);
  const isIn = ({ nodeId, path }: { readonly nodeId: string; readonly path: string }): boolean =>
    nodeId === location.nodeId && (location.path === undefined || path === location.path);
  const startedAtMs = known
    .filter(isIn)
    .reduce((first, one) => Math.min(first, one.startedAtMs ?? first), Infinity);
  return (effects) => {
    // Newest first: everything up to its oldest effect. Equal times do not matter then.
    const oldest = effects.findLastIndex(isIn);
    if (oldest >= 0) return effects.slice(0, oldest + 1);
    return effects.filter((effect) => effect.startedAtMs >= startedAtMs);
  };
}
