/** An agent loop whose process is killed resumes after its last effect, even if the model gives its calls new ids. */
import { describe, expect, test } from "vitest";
import { createRuntime } from "../../src/index.ts";
import type { CrashRunOptions } from "../../src/testing/index.ts";
import { IS_EXHAUSTIVE } from "../amount.ts";
import { STORE_KINDS } from "../store-kinds.ts";
import { shopProgram } from "./shop-program.ts";
import { openShop } from "./shop.ts";

const MOMENTS: (CrashRunOptions & { readonly name: string })[] = [
  { name: "in the first turn", crashAt: "in-effect", occurrence: 2 },
  { name: "between two turns", crashAt: "after-outcome", occurrence: 2 },
  { name: "at the second order of the same article", crashAt: "after-effect", occurrence: 4 },
];

const LOOPS = [
  ["the AI SDK", "agent-orders"],
  ["OpenAI Agents", "openai-agents-orders"],
  ["LangChain", "langchain-orders"],
] as const;

const CASES = STORE_KINDS.flatMap((storeKind) =>
  LOOPS.map(([loop, file], index) => {
    const isWhole = IS_EXHAUSTIVE || storeKind.name === "SQLite";
    const moments = isWhole ? MOMENTS : MOMENTS.slice(index, index + 1);
    return { store: storeKind.name, storeKind, loop, file, moments };
  }),
);

describe.each(CASES)("$loop on $store", ({ storeKind, file, moments }) => {
  test.concurrent.each(moments)(
    "an agent that is killed $name places each order once",
    async ({ crashAt, occurrence }) => {
      await using store = await storeKind.fresh();
      await using shop = await openShop();
      const program = shopProgram(file, { args: [store.address, shop.url] });
      expect((await program.run({ crashAt, occurrence })).crashed).toBe(true);
      expect((await program.run()).stdout).toBe("All is ordered.\n");
      expect(shop.ledger.map(({ sku }) => sku).sort()).toEqual(["a", "a", "b", "c"]);
      await using runtime = createRuntime({ store: store.address });
      const calls = await runtime.calls({ runId: "run-1" });
      expect(calls.map(({ status }) => status)).toEqual(["success", "success", "success", "success"]);
    },
  );
});
