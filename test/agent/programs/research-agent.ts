/** The agent that is killed: it reads long reports and orders at a shop. Its model is a separate server. Prints JSON. */
import { z } from "zod";
import { createSmartAgent, createTool } from "../../../src/index.ts";
import { createCrashableRuntime } from "../../../src/testing/index.ts";
import { createOrderTool } from "../../crash/programs/shop-tools.ts";

export interface ResearchInput {
  readonly store: string;
  readonly shopUrl: string;
  readonly modelUrl: string;
}

const input = JSON.parse(process.argv[2] ?? "") as ResearchInput;

const readReport = createTool({
  name: "read_report",
  schema: z.object({ n: z.number() }),
  func: ({ n }) => `Report ${n}. ${`filler ${n} `.repeat(500)}The code of report ${n} is ${n * 7_919}.`,
});

const model = {
  invoke: async (messages: unknown): Promise<unknown> =>
    (await fetch(input.modelUrl, { method: "POST", body: JSON.stringify(messages) })).json(),
  bindTools: () => model,
};

await using runtime = createCrashableRuntime({ store: input.store });
const agent = createSmartAgent({
  model,
  tools: [readReport, createOrderTool("keyed", input.shopUrl)],
  runtime,
  limits: { maxContextTokens: 4_000, maxToolCalls: 100 },
});
const { status, content, state } = await agent.invoke({
  messages: [{ role: "user", content: "Read the reports and order. What is the code of the first?" }],
  runId: "run-1",
});
console.log(JSON.stringify({ status, content, plan: state.planVersion, calls: state.toolHistory.length }));
