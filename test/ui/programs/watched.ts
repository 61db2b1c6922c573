/** A run that its test drives line by line: `call <text>` calls a tool, `hang` calls one that never returns, `end` ends. */
import { createInterface } from "node:readline";
import { z } from "zod";
import { createRuntime, defineTool } from "../../../src/index.ts";

const [store = "", runId = ""] = process.argv.slice(2);

const note = defineTool({
  name: "note",
  schema: z.object({ text: z.string() }),
  sideEffect: true,
  idempotent: true,
  execute: async ({ text }) => ({ noted: text }),
});
const charge = defineTool({
  name: "charge",
  schema: z.object({ amount: z.number() }),
  sideEffect: true,
  idempotent: false,
  execute: async () => {
    console.log("hangs");
    setInterval(() => undefined, 1_000);
    return new Promise<never>(() => undefined);
  },
});

await using runtime = createRuntime({ store });
await runtime.run({ runId }, async () => {
  for await (const line of createInterface({ input: process.stdin })) {
    if (line === "end") return;
    if (line === "hang") await runtime.call(charge, { amount: 7 });
    else await runtime.call(note, { text: line.slice("call ".length) });
    console.log(`done ${line}`);
  }
});
