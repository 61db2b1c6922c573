/** A user's project: a configuration with tools, in TypeScript, without node_modules. */
export const CONFIG = `
import { appendFileSync } from "node:fs";
import { defineTool } from "toolwright";
import { z } from "zod";

const write = defineTool({
  name: "notes_write",
  group: "notes",
  description: "Write a note.",
  schema: z.object({ title: z.string(), content: z.string().default("nothing"), stars: z.int().optional() }),
  execute: (args: { title: string; content: string }) => args,
});

const pay = defineTool({
  name: "pay",
  description: "Pay a person.",
  schema: z.object({ euros: z.number(), to: z.string().default("Bo") }),
  sideEffect: true,
  idempotent: false,
  needsApproval: true,
  approvalPrompt: ({ euros }: { euros: number }) => \`Pay \${euros} euros?\`,
  execute: ({ euros, to }: { euros: number; to: string }, ctx) => {
    appendFileSync("paid.txt", \`\${euros} \${to} \${ctx.idempotencyKey}\\n\`);
    return { paid: euros, to };
  },
});

const wait = defineTool({
  name: "wait",
  description: "Wait for the signal to stop.",
  schema: z.object({ stubborn: z.boolean().default(false) }),
  sideEffect: true,
  idempotent: false,
  onUnknown: "ask",
  execute: ({ stubborn }: { stubborn: boolean }, ctx) => {
    ctx.progress("counting \\u001b[31mpages");
    console.log("waiting", ctx.idempotencyKey?.length);
    return new Promise((_resolve, reject) => {
      setTimeout(() => undefined, 60_000);
      if (!stubborn) ctx.signal.addEventListener("abort", () => reject(new Error("stopped")));
    });
  },
});

const slow = defineTool({
  name: "slow",
  description: "Take a while.",
  schema: z.object({ n: z.int() }),
  execute: async ({ n }: { n: number }, ctx) => {
    ctx.progress("step one");
    await new Promise((resolve) => setTimeout(resolve, 300));
    return { n };
  },
});

const status = defineTool({ name: "ps", description: "Never seen.", schema: z.object({}), execute: () => "the tool" });
const inspect = defineTool({
  name: "inspect_all",
  group: "inspect",
  description: "By its full name.",
  schema: z.object({ store: z.string().optional() }),
  execute: (args: object) => args,
});

export default { tools: { write, pay, wait, slow, status, inspect } };
`;
