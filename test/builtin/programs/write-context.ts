/** Writes one new item and replaces another, in one run. Argument: the store. Prints the outcomes. */
import { createCrashableRuntime } from "../../../src/testing/index.ts";
import { contextTools } from "../../../src/builtin/index.ts";

const { context_write } = contextTools;

await using runtime = createCrashableRuntime({ store: process.argv[2] });
const created = await runtime.call(
  context_write,
  { drive: "notes", path: "/new", content: "the only words" },
  { runId: "r" },
);
const replaced = await runtime.call(
  context_write,
  { drive: "notes", path: "/old", content: "after", on_conflict: "overwrite" },
  { runId: "r" },
);
console.log(JSON.stringify([created, replaced]));
