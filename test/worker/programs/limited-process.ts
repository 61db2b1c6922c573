/** Calls a tool under a limit several times at once. Each call is a request to a service outside. Takes one argument, in JSON. */
import { z } from "zod";
import { createRuntime, defineTool } from "../../../src/index.ts";

export interface LimitedProcessInput {
  readonly store: string;
  readonly url: string;
  readonly calls: number;
}

const { store, url, calls } = JSON.parse(process.argv[2] ?? "") as LimitedProcessInput;

const work = defineTool({
  name: "work",
  schema: z.object({ pid: z.number(), n: z.number() }),
  concurrency: { max: 1 },
  execute: async ({ pid }) => {
    await (await fetch(`${url}/${pid}`)).text();
  },
});

await using runtime = createRuntime({ store });
await runtime.ready();
console.log("started");
await Promise.all(Array.from({ length: calls }, (_, n) => runtime.call(work, { pid: process.pid, n })));
console.log("done");
