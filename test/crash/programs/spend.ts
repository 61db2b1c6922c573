/** One call that costs something and may be killed in it. Arguments: store, lines file. Prints how it ended, and the budgets. */
import { appendFileSync } from "node:fs";
import { z } from "zod";
import { defineTool } from "../../../src/index.ts";
import { openStore } from "../../../src/store/open-store.ts";
import { all } from "../../../src/store/statement.ts";
import { createCrashableRuntime, reachCrashPoint } from "../../../src/testing/index.ts";

const [store = "", lines = "", maxExecutions = "9"] = process.argv.slice(2);

const opened = await openStore(store);
const usedUsd = async (): Promise<number> => {
  const [row] = await opened.read(() => all("SELECT used FROM toolwright_usage WHERE name = 'maxCostUsd'"));
  return Number(row?.["used"] ?? 0);
};

async function untilUsedMoreThan(usd: number): Promise<void> {
  while ((await usedUsd()) <= usd) await new Promise((resolve) => setTimeout(resolve, 5));
}

const spend = defineTool({
  name: "spend",
  schema: z.object({}),
  sideEffect: true,
  idempotent: true,
  maxExecutionsPerRun: Number(maxExecutions),
  execute: async (_args, ctx) => {
    appendFileSync(lines, `${ctx.runId}\n`);
    const isServer = store.startsWith("postgres");
    const before = isServer ? await usedUsd() : 0;
    ctx.reportCost(0.4);
    // On SQLite the cost is stored by now; a server needs a moment.
    if (isServer) await untilUsedMoreThan(before);
    reachCrashPoint("in-effect");
    return "spent";
  },
});

{
  await using runtime = createCrashableRuntime({ store, limits: { maxCostUsd: 1 } });
  const outcome = await runtime.call(spend, {}, { runId: "run-1" });
  console.log(outcome.status === "error" ? outcome.error.details["limit"] : outcome.status);
}
console.log((await usedUsd()).toFixed(1));
await opened.close();
