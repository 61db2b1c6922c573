/**
 * The program that is killed: places orders in sequence, then some concurrently, and prints the outcome of each.
 * Arguments: store, shop, kind of tool, run id, number of orders of each sort.
 */
import { ToolwrightError } from "../../../src/index.ts";
import { createCrashableRuntime } from "../../../src/testing/index.ts";
import { createOrderTool, type ToolKind } from "./shop-tools.ts";

const [store = "", shopUrl = "", kind = "", runId = "", count = ""] = process.argv.slice(2);
const tool = createOrderTool(kind as ToolKind, shopUrl);
const numbers = Array.from({ length: Number(count) }, (_, index) => index + 1);
const ends: Record<string, string> = {};

await using runtime = createCrashableRuntime({ store });
for (const number of numbers) {
  const sku = `one-${number}`;
  const outcome = await runtime.call(tool, { sku }, { runId });
  ends[sku] = outcome.status === "error" ? outcome.error.code : outcome.status;
}
await runtime.run({ runId, nodeId: "batch" }, () =>
  Promise.all(
    numbers.map(async (number) => {
      const sku = `batch-${number}`;
      ends[sku] = await tool.execute({ sku }).then(
        () => "success",
        (error: unknown) => (ToolwrightError.is(error) ? error.code : String(error)),
      );
    }),
  ),
);
console.log(JSON.stringify(ends));
