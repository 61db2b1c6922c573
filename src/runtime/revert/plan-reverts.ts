/** Lists what a run did outside, newest first, and which of it was reverted. Reads the store, and changes nothing. */
import { callKey, forkedKey, scopeText, type ScopeIdentity } from "../../definition/call-key.ts";
import { writeArguments } from "../../invoke/call-text.ts";
import type { Store } from "../../store/store.ts";
import { readFork } from "../../store/tables/forks.ts";
import {
  type EffectRow,
  type EffectValues,
  listEffects,
  listReverted,
  readEffectValues,
} from "../../store/tables/reverts.ts";
import { REVERT_PATH } from "../../store/tables/scopes.ts";
import { decode } from "../../util/encode.ts";
import { isPreview } from "../../util/truncate.ts";

/** The arguments of a revert, as its approver sees them. */
export interface RevertInput {
  /** The call that it reverts. */
  readonly call: {
    readonly tool: string;
    readonly key: string;
    /** The effect happened after the call had ended. An earlier revert may have found nothing. */
    readonly late?: true;
    readonly nodeId: string;
    readonly iteration: number;
    readonly attempt: number;
    readonly seq: number;
  };
  /** The arguments of that call, as they are logged. */
  readonly args: unknown;
}

export interface PlannedRevert {
  readonly effect: EffectRow;
  readonly values: EffectValues;
  readonly input: RevertInput;
  /** Replaces the index among equal calls: one revert for each effect. */
  readonly callKey: string;
  /** The key of the revert itself. */
  readonly key: string;
  readonly isReverted: boolean;
  /** The effect happened after its revert, so it is reverted once more. */
  readonly isLate: boolean;
}

export function revertIdentity(runId: string): ScopeIdentity {
  return { runId, nodeId: "revert", iteration: 0, path: REVERT_PATH, parentKey: "" };
}

export function revertName(toolName: string): string {
  return `revert:${toolName}`;
}

export async function planReverts(
  store: Store,
  runId: string,
  select: (effects: readonly EffectRow[]) => readonly EffectRow[] = (effects) => effects,
): Promise<PlannedRevert[]> {
  const { rows, reverted, fork } = await store.read(function* () {
    return {
      rows: yield* listEffects(runId),
      reverted: yield* listReverted(runId),
      fork: yield* readFork(runId),
    };
  });
  const keyOf = (index: string, text: string): string => {
    const identity = revertIdentity(runId);
    if (fork === undefined) return callKey(scopeText(identity), index, text);
    return forkedKey(runId, callKey(scopeText({ ...identity, runId: fork.originId }), index, text));
  };
  const planned: PlannedRevert[] = [];
  for (const effect of select(onePerEffect(rows))) {
    const values = await store.read(() => readEffectValues(effect));
    const input = inputOf(effect, values, effect.hasLateResult);
    const textOf = (given: RevertInput): string => writeArguments(revertName(effect.toolName), given).text;
    const first = effect.reruns === true ? `${effect.key} ${effect.attempt}` : effect.key;
    const isRevertedOnce = reverted.has(keyOf(first, textOf(inputOf(effect, values, false))));
    // A late result names another revert: the first one may have found nothing to revert.
    const index = effect.hasLateResult ? `${first} late` : first;
    const key = keyOf(index, textOf(input));
    const isReverted = reverted.has(key);
    planned.push({
      effect,
      values,
      input,
      callKey: index,
      key,
      isReverted,
      isLate: effect.hasLateResult && isRevertedOnce && !isReverted,
    });
  }
  return planned;
}

/** A call that was repeated under one key has one effect, unless its tool runs again in each attempt. */
function onePerEffect(rows: readonly EffectRow[]): EffectRow[] {
  const byKey = new Map<string, EffectRow>();
  for (const row of rows) {
    const name = row.reruns === true ? `${row.key} ${row.attempt}` : row.key;
    const known = byKey.get(name);
    if (known === undefined || (known.status !== "success" && row.status === "success")) byKey.set(name, row);
  }
  return [...byKey.values()];
}

function inputOf(effect: EffectRow, { inputJson }: EffectValues, isLate: boolean): RevertInput {
  const { toolName, key, nodeId, iteration, attempt, seq } = effect;
  return {
    call: { tool: toolName, key, ...(isLate ? { late: true } : {}), nodeId, iteration, attempt, seq },
    args: inputJson === null ? undefined : decode(inputJson),
  };
}

/** The output of the call, if known. */
export function outputOf({ effect, values }: PlannedRevert): unknown {
  const json =
    effect.status === "success" ? values.outputJson : effect.hasLateResult ? values.lateJson : null;
  return json === null || isPreview(json) ? undefined : decode(json);
}
