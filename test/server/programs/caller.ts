/** Reads run ids from stdin, makes one call in each, and prints the time when the call was committed. */
import { createInterface } from "node:readline";
import { createRuntime } from "../../../src/index.ts";
import { quick } from "./quick-tool.ts";

const runtime = createRuntime({ store: process.argv[2] ?? "" });
let n = 0;
for await (const runId of createInterface({ input: process.stdin })) {
  n += 1;
  await runtime.call(quick, { n }, { runId });
  console.log(Date.now());
}
await runtime.close();
