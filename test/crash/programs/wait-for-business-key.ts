/**
 * A call is cut off, so it is in doubt and waits for approval. Then another run needs the same business key. Prints
 * the outcome of that run.
 */
import { z } from "zod";
import { createRuntime, defineTool } from "../../../src/index.ts";

const [store = ""] = process.argv.slice(2);
const controller = new AbortController();
const charge = defineTool({
  name: "charge",
  schema: z.object({ invoice: z.string() }),
  sideEffect: true,
  timeoutMs: 500,
  idempotencyKey: ({ invoice }) => invoice,
  execute: ({ invoice }) => {
    controller.abort();
    return new Promise(() => invoice);
  },
});

const invoice = { invoice: "i-1" };
const first = createRuntime({ store });
await first.call(charge, invoice, { runId: "run-1", signal: controller.signal });
const second = createRuntime({ store });
const asked = await second.call(charge, invoice, { runId: "run-1" });
const other = await second.call(charge, invoice, { runId: "run-2" });
console.log(JSON.stringify([asked.status, other.status === "error" ? other.error.code : other.status]));
process.exit(0);
