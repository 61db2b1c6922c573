/** A worker that takes a run and never ends it. Takes the address of the store. Prints when it has taken the run. */
import { createRuntime, createWorker } from "toolwright";

const LEASE_MS = 2_000;

const runtime = createRuntime({ store: process.argv[2] ?? "" });
const worker = createWorker({
  runtime,
  programs: {
    stuck: () => {
      console.log("taken");
      return new Promise(() => undefined);
    },
  },
  leaseMs: LEASE_MS,
});
await worker.start();
