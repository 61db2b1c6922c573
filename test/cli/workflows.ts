/** Workflow files as a user writes them: JSX and types, without a pragma and without a tsconfig. */

/** Greets the person that the input names. */
export const GREETING = `
import { createSmithers } from "toolwright";
import { z } from "zod";
const { Workflow, Task, smithers, outputs } = createSmithers({
  input: z.object({ name: z.string() }),
  output: z.object({ text: z.string() }),
});
export default smithers((ctx) => (
  <Workflow name="greeting">
    <Task id="greet" output={outputs.output}>{() => ({ text: \`hello \${ctx.input.name}\` })}</Task>
  </Workflow>
));
`;

/** Writes a line to effects.txt in one task, and never ends the next one while HANG is set. */
export const EFFECTS = `
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { createSmithers, defineTool } from "toolwright";
import { z } from "zod";
const write = defineTool({
  name: "write_line",
  description: "Writes a line.",
  schema: z.object({ text: z.string() }),
  sideEffect: true,
  idempotent: false,
  execute: ({ text }: { text: string }, ctx) => {
    appendFileSync(join(ctx.rootDir, "effects.txt"), \`\${text} \${ctx.idempotencyKey}\\n\`);
    return { text };
  },
});
const { Workflow, Task, smithers, outputs } = createSmithers({ output: z.object({ text: z.string() }) });
const hang = (): Promise<void> =>
  process.env["HANG"] === undefined ? Promise.resolve() : new Promise(() => setInterval(() => undefined, 60_000));
export default smithers(() => (
  <Workflow name="effects">
    <Task id="first" output={outputs.output}>{() => write.execute({ text: "first" })}</Task>
    <Task id="second" output={outputs.output}>
      {async () => {
        const done = await write.execute({ text: "second" });
        console.log("second is written");
        await hang();
        return done;
      }}
    </Task>
  </Workflow>
));
`;

/** A call that waits for approval, and an approval node. */
export const QUESTIONS = `
import { createSmithers, defineTool } from "toolwright";
import { z } from "zod";
const pay = defineTool({
  name: "pay",
  description: "Pays.",
  schema: z.object({ euros: z.number() }),
  sideEffect: true,
  idempotent: false,
  needsApproval: true,
  approvalPrompt: ({ euros }) => \`Pay \${euros} euros?\`,
  execute: ({ euros }, ctx) => ({ paid: euros, known: ctx.idempotencyKey !== null }),
});
const { Workflow, Task, Approval, smithers, outputs } = createSmithers({
  output: z.object({ paid: z.number() }),
});
export default smithers(() => (
  <Workflow name="questions">
    <Approval id="start" prompt="Shall we begin?" />
    <Task id="pay" output={outputs.output} retries={0}>{() => pay.execute({ euros: 70 })}</Task>
  </Workflow>
));
`;

/** An agent orders two things at once, then a third; a function orders one. While HOLD is set, the shop keeps that one waiting. */
export const SHOPPING = `
import { ToolLoopAgent } from "ai";
import { appendFileSync } from "node:fs";
import { createSmithers, defineTool } from "toolwright";
import { createScriptedModel } from "toolwright/testing";
import { z } from "zod";
const order = defineTool({
  name: "order",
  schema: z.object({ sku: z.string() }),
  sideEffect: true,
  execute: async ({ sku }, ctx) => {
    const isHeld = sku === process.env["HOLD"];
    if (isHeld) setTimeout(() => console.log("waits for " + sku), 100);
    await fetch(process.env["SHOP_URL"] + (isHeld ? "?hold" : ""), {
      method: "POST",
      body: JSON.stringify({ sku, key: ctx.idempotencyKey }),
      signal: ctx.signal,
    });
    return { sku };
  },
});
const turns = [
  [{ toolName: "order", input: { sku: "a" } }, { toolName: "order", input: { sku: "b" } }],
  [{ toolName: "order", input: { sku: "c" } }],
  '{"text":"ordered"}',
];
const model = createScriptedModel(
  [
    ({ prompt }) => {
      const turn = prompt.filter(({ role }) => role === "assistant").length;
      appendFileSync("requests.txt", turn + "\\n");
      return turns[turn];
    },
  ],
  { atEnd: "repeat-last" },
);
const agent = new ToolLoopAgent({ model, tools: { order } });
const { Workflow, Task, smithers, outputs } = createSmithers({ output: z.object({ text: z.string() }) });
export default smithers(() => (
  <Workflow name="shopping">
    <Task id="agent" agent={agent} output={outputs.output}>Order.</Task>
    <Task id="function" output={outputs.output}>{async () => ({ text: (await order.execute({ sku: "d" })).sku })}</Task>
  </Workflow>
));
`;

/** Never ends, and never waits for anything. */
export const ENDLESS = `
import { createSmithers } from "toolwright";
import { z } from "zod";
const { Workflow, Task, Loop, smithers, outputs } = createSmithers({ output: z.number() });
export default smithers((ctx) => (
  <Workflow name="endless">
    <Loop until={false} maxIterations={Infinity}>
      <Task id="t" output={outputs.output}>
        {() => {
          if (ctx.iteration === 10) console.log("the loop runs");
          return ctx.iteration;
        }}
      </Task>
    </Loop>
  </Workflow>
));
`;
