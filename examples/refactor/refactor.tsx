/**
 * An agent with the five built-in tools reads a file, patches it and runs its tests. The tools cannot leave the root of the
 * run, here the folder of this file; a first task writes a small project into it, below work/. The model is scripted, or a
 * real one: set ANTHROPIC_API_KEY and install @ai-sdk/anthropic (ANTHROPIC_MODEL chooses another model).
 *
 * Run it with `npm run example refactor`, which is: toolwright up examples/refactor/refactor.tsx
 */
import assert from "node:assert/strict";
import { ToolLoopAgent as Agent } from "ai";
import { bash, createSmithers, read, tools, write } from "toolwright";
import { z } from "zod";
import { chooseModel } from "./model.ts";

const CART = `export function total(items) {
  let t = 0;
  for (let i = 0; i < items.length; i++) {
    if (items[i].n > 0) { t = t + items[i].n * items[i].p; }
  }
  if (t > 100) { t = t - t * 0.1; }
  return t;
}
`;

const TESTS = `import assert from "node:assert";
import { total } from "./cart.js";
assert.equal(total([{ n: 2, p: 10 }, { n: -1, p: 5 }]), 20);
assert.equal(total([{ n: 20, p: 10 }]), 180);
console.log("ok");
`;

const codeAgent = new Agent({
  model: await chooseModel(),
  tools, // { read, write, edit, bash, grep }
  instructions: "You are a senior engineer. Use the available tools to complete tasks.",
});

const { Workflow, Task, smithers, outputs } = createSmithers({
  input: z.object({ file: z.string().default("work/cart.js") }),
  result: z.object({ summary: z.string() }),
  output: z.object({ summary: z.string(), tests: z.string() }),
});

export default smithers((ctx) => (
  <Workflow name="refactor">
    <Task id="prepare">
      {async () => {
        await write.execute({ path: "work/package.json", content: '{ "type": "module" }\n' });
        await write.execute({ path: "work/cart.js", content: CART });
        await write.execute({ path: "work/cart.test.js", content: TESTS });
      }}
    </Task>
    <Task id="refactor" output={outputs.result} agent={codeAgent}>
      {`Refactor ${ctx.input.file} for readability and run the tests (node work/cart.test.js).`}
    </Task>
    <Task id="check" output={outputs.output} deps={{ refactor: outputs.result }} retries={0}>
      {async ({ refactor }) => {
        const tests = await bash.execute({ cmd: "node", args: ["work/cart.test.js"] });
        // What this example proves: the file has changed, and its tests pass.
        assert.notEqual(await read.execute({ path: ctx.input.file }), CART);
        assert.match(tests, /^ok$/m);
        return { summary: refactor.summary, tests };
      }}
    </Task>
  </Workflow>
));
