/** A runtime in its own thread, in the middle of a charge. */
import { parentPort, workerData } from "node:worker_threads";
import { z } from "zod";
import { defineTool } from "../../../src/index.ts";
import { createRuntime } from "../../../src/runtime/create-runtime.ts";

const { file } = workerData as { file: string };
const charge = defineTool({
  name: "blind_charge",
  schema: z.object({ amount: z.number() }),
  sideEffect: true,
  idempotent: false,
  acceptsIdempotencyKey: false,
  execute: () => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    parentPort?.postMessage("charging");
    return new Promise<{ id: string }>(() => undefined);
  },
});
await createRuntime({ store: file }).call(charge, { amount: 7 }, { runId: "r1", callKey: "one" });
