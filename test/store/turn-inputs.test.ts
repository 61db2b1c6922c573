/** The input of a turn is in the row of the turn if it is short, as in every version, and else in a row of its own. */
import { createRuntime } from "toolwright";
import { expect, test } from "vitest";
import { hostOf } from "../../src/runtime/create-runtime.ts";
import { openStore } from "../../src/store/open-store.ts";
import { all, change, type Row } from "../../src/store/statement.ts";
import type { Transaction } from "../../src/store/store.ts";
import { copyTurns } from "../../src/store/tables/copy-run.ts";
import { beganJsonOf, insertTurn, readTurns, shortenBegan } from "../../src/store/tables/turns.ts";
import { STORE_KINDS } from "../store-kinds.ts";

const SHORT = '{"said":"Hi."}';
const LONG = `{"said":"${"Hello. ".repeat(10_000)}"}`;

function* begin(runId: string, inputs: readonly string[]): Transaction<void> {
  for (const [index, beganJson] of inputs.entries()) {
    const turn = { runId, turn: index + 1, kind: "agent", inputHash: `${index}`, budgetId: null };
    yield* insertTurn({ ...turn, resultJson: null, isGivenUp: false }, beganJson, 1);
  }
}

function* inputsOf(runId: string): Transaction<string[]> {
  return (yield* readTurns(runId)).map(({ beganJson }) => beganJson);
}

const inRows = (runId: string): Transaction<number[]> =>
  (function* () {
    const sql = "SELECT LENGTH(began_json) AS length FROM toolwright_turns WHERE run_id = ?1 ORDER BY turn";
    return (yield* all(sql, runId)).map(({ length }) => Number(length));
  })();

test.each(STORE_KINDS)("$name reads, copies and shortens inputs of any length", async ({ fresh }) => {
  await using at = await fresh();
  const store = await openStore(at.address);
  try {
    await store.transaction(() => begin("r", [SHORT, LONG, SHORT]), "normal");
    expect(await store.read(() => inputsOf("r"))).toEqual([SHORT, LONG, SHORT]);
    expect(await store.read(() => beganJsonOf({ runId: "r", turn: 2 }))).toBe(LONG);
    const lengths = await store.read(() => inRows("r"));
    expect(lengths).toEqual([SHORT.length, expect.any(Number), SHORT.length]);
    expect(lengths[1]).toBeLessThan(100);

    await store.transaction(() => copyTurns("r", "fork", 3), "normal");
    expect(await store.read(() => inputsOf("fork"))).toEqual([SHORT, LONG]);

    await store.transaction(() => shortenBegan("r", 2, SHORT), "normal");
    expect(await store.read(() => inputsOf("r"))).toEqual([SHORT, SHORT, SHORT]);
    expect(await store.read(() => inputsOf("fork"))).toEqual([SHORT, LONG]);
  } finally {
    await store.close();
  }
});

test.each(STORE_KINDS)(
  "$name reads no long input of a run that an older version deleted",
  async ({ fresh }) => {
    await using at = await fresh();
    const store = await openStore(at.address);
    try {
      const again = (inputs: readonly string[]): Promise<string[]> =>
        store.transaction(function* () {
          yield* change("DELETE FROM toolwright_turns");
          yield* begin("r", inputs);
          return yield* inputsOf("r");
        }, "normal");
      await store.transaction(() => begin("r", [LONG]), "normal");
      expect(await again([SHORT])).toEqual([SHORT]);
      expect(await again([LONG.toUpperCase()])).toEqual([LONG.toUpperCase()]);
    } finally {
      await store.close();
    }
  },
);

test.each(STORE_KINDS)(
  "rule 30: $name keeps no long input of a run that an older version deleted once retention has run",
  async ({ fresh }) => {
    await using at = await fresh();
    await using runtime = createRuntime({ store: at.address });
    await runtime.ready();
    const { store } = await hostOf(runtime);
    const left = (): Promise<readonly Row[]> =>
      store.read(() => all("SELECT run_id FROM toolwright_turn_inputs"));
    await store.transaction(function* () {
      yield* begin("deleted", [LONG]);
      yield* begin("kept", [LONG]);
      yield* change("DELETE FROM toolwright_turns WHERE run_id = 'deleted'");
    }, "normal");
    await runtime.gc({ dryRun: true });
    expect(await left()).toHaveLength(2);
    await runtime.gc();
    expect(await left()).toMatchObject([{ run_id: "kept" }]);
  },
);
