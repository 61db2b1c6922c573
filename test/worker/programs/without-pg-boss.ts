/** Starts a worker where pg-boss is missing, then where its version is another one. Prints both errors as JSON. */
import { registerHooks } from "node:module";
import { createRuntime, createWorker, ToolwrightError } from "../../../src/index.ts";
import { hostOf } from "../../../src/runtime/create-runtime.ts";
import { all } from "../../../src/store/statement.ts";

let isMissing = true;
registerHooks({
  resolve(specifier, context, next) {
    if (specifier === "pg-boss" && isMissing) throw new Error("Cannot find package 'pg-boss'");
    if (specifier !== "pg-boss/package.json") return next(specifier, context);
    return {
      url: 'data:application/json,{"version":"11.1.0"}',
      format: "json",
      importAttributes: { type: "json" },
      shortCircuit: true,
    };
  },
  load(url, context, next) {
    if (!url.startsWith("data:application/json,")) return next(url, context);
    return { format: "json", source: url.slice(url.indexOf(",") + 1), shortCircuit: true };
  },
});

const runtime = createRuntime({ store: process.argv[2] ?? "" });
const errors: object[] = [];
for (isMissing of [true, false]) {
  const worker = createWorker({ runtime, programs: { echo: ({ input }) => input } });
  try {
    await worker.start();
  } catch (error) {
    if (!ToolwrightError.is(error)) throw error;
    const { code, message, hint } = error;
    const { store } = await hostOf(runtime);
    const workers = await store.read(() => all("SELECT owner_id FROM toolwright_workers"));
    errors.push({ code, message, hint, workers: workers.length });
  }
}
await runtime.close();
console.log(JSON.stringify(errors));
