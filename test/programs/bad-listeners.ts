/** Runs everything that accepts a listener, with listeners that fail as the first argument says. */
import Anthropic from "@anthropic-ai/sdk";
import { Effect } from "effect";
import { z } from "zod";
import { runWorkflow as runAsEffect } from "../../src/effect.ts";
import {
  createRuntime,
  createSmartAgent,
  createSmithers,
  defineTool,
  runAgentLoop,
  runChatTurn,
  runWorkflow,
} from "../../src/index.ts";
import { jsx } from "../../src/jsx-runtime.ts";
import { createScriptedAnthropic, createScriptedModel } from "../../src/testing/index.ts";

class Unreadable {
  get message(): string {
    throw new Error("the message of this error cannot be read");
  }
}

let heard = 0;
const FAULTS: Readonly<Record<string, () => unknown>> = {
  throws: () => {
    throw new Error("listener is broken");
  },
  rejects: async () => {
    throw new Error("listener is broken");
  },
  "rejects with nothing": () => Promise.reject(),
  "throws what cannot be read": () => {
    throw new Unreadable();
  },
  "returns a thenable that rejects": () => ({
    // oxlint-disable-next-line unicorn/no-thenable
    then: (_resolve: unknown, reject: (error: unknown) => void) => reject(new Error("broken")),
  }),
  "returns a thenable that throws": () => ({
    // oxlint-disable-next-line unicorn/no-thenable
    get then(): never {
      throw new Error("broken");
    },
  }),
  "calls a tool": () => add.execute({ n: 1 }),
  "changes what it receives": (...events: unknown[]) => {
    for (const event of events as Record<string, unknown>[]) {
      for (const name of Object.keys(event)) event[name] = "changed";
    }
  },
};

const add = defineTool({ name: "add", schema: z.object({ n: z.number() }), execute: ({ n }) => n + 1 });
const fault = FAULTS[process.argv[2] ?? ""] as (event: unknown) => unknown;
const listener = (event: unknown): void => {
  heard += 1;
  // Typed like any listener: the runtime ignores its return value.
  return fault(event) as void;
};

await using runtime = createRuntime({ store: ":memory:" });
runtime.subscribe(listener);
const results: unknown[] = [];
const messages = [{ role: "user" as const, content: "Add one." }];

const outcome = await runtime.call(add, { n: 1 }, { runId: "bare" });
results.push(outcome.status === "success" ? outcome.output : outcome);

const { Workflow, Task, smithers, outputs } = createSmithers({ output: z.number() });
const workflow = smithers(() =>
  jsx(Workflow, {
    name: "w",
    children: jsx(Task, { id: "t", output: outputs.output, children: () => add.execute({ n: 2 }) }),
  }),
);
results.push((await runWorkflow(workflow, { runtime, onProgress: listener })).output);
results.push((await Effect.runPromise(runAsEffect(workflow, { runtime, onProgress: listener }))).output);

const agent = createSmartAgent({
  model: createScriptedModel([[{ toolName: "add", input: { n: 3 } }], "Done."]),
  tools: [add],
  runtime,
  onEvent: listener,
});
results.push((await agent.invoke({ messages }, { onEvent: listener })).content);

for (const run of [runAgentLoop, runChatTurn]) {
  await using server = await createScriptedAnthropic([[{ toolName: "add", input: { n: 4 } }], "Done."]);
  const client = new Anthropic({ baseURL: server.baseURL, apiKey: "any", maxRetries: 0 });
  const { status, messages: said } = await run({
    client,
    model: "claude",
    messages,
    tools: [add],
    runtime,
    stream: true,
    onEvent: listener,
  });
  results.push(status, JSON.stringify(said).includes("changed"));
}
const calls = await runtime.calls();
// A rejected promise affects the process only in the next turn of the event loop.
await new Promise((resolve) => setTimeout(resolve, 20));
console.log(JSON.stringify({ results, calls: calls.length, heard: heard > 0 }));
