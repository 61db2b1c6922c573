/**
 * Places orders while its connections to the database are cut. A call whose record failed is made again by a new
 * runtime, as a restarted process would. Arguments: store, shop, number of orders.
 */
import { createRuntime, ToolwrightError } from "../../../src/index.ts";
import { createOrderTool } from "./shop-tools.ts";

const [store = "", shopUrl = "", count = ""] = process.argv.slice(2);
const tool = createOrderTool("keyed", shopUrl);
let failures = 0;

async function place(sku: string): Promise<void> {
  for (;;) {
    const runtime = createRuntime({ store });
    try {
      const { status } = await runtime.call(tool, { sku }, { runId: "run-1" });
      if (status === "success") return;
      throw new Error(`${sku} is ${status}`);
    } catch (error) {
      if (!ToolwrightError.is(error) || error.code !== "TOOL_STORE_FAILED") throw error;
      failures += 1;
    } finally {
      // The next runtime recovers what cannot be stored when a runtime ends.
      await Promise.allSettled([runtime[Symbol.asyncDispose]()]);
    }
  }
}

for (let number = 1; number <= Number(count); number += 1) await place(`sku-${number}`);
console.log(String(failures));
