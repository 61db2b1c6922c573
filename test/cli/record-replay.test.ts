/** `toolwright record` and `toolwright replay`: fixtures of runs, and what their exit codes say. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createFolder, toolwright } from "./command.ts";
import { paste } from "./paste.ts";

const TOOLS = `
import { defineTool } from "toolwright";
import { appendFileSync } from "node:fs";
import { z } from "zod";
export const charge = defineTool({
  name: "charge",
  description: "Charges a card.",
  schema: z.object({ amount: z.number(), card: z.string() }),
  sideEffect: true,
  idempotent: false,
  redact: { input: ["card"] },
  acceptsIdempotencyKey: true,
  execute: ({ amount }, _ctx) => {
    appendFileSync("charges.txt", \`\${amount}\\n\`);
    if (amount > 100) throw new Error("declined");
    return { amount };
  },
});
`;

const WORKFLOW = `
import { createWorkflows } from "toolwright";
import { z } from "zod";
import { charge } from "./tools.ts";
const { Workflow, Task, workflow, outputs } = createWorkflows({
  input: z.object({ amount: z.number() }),
  paid: z.object({ amount: z.number() }),
});
export default workflow((ctx) => (
  <Workflow name="pay">
    <Task id="pay" output={outputs.paid} retries={0}>
      {() => charge.execute({ amount: ctx.input.amount, card: "4242-4242" })}
    </Task>
  </Workflow>
));
`;

const CONFIG = `
import { charge } from "./tools.ts";
export default { recording: "keep", tools: [charge], workflows: { pay: "./pay.tsx" } };
`;

function project(): string {
  return createFolder({ "tools.ts": TOOLS, "pay.tsx": WORKFLOW, "toolwright.config.ts": CONFIG });
}

test("a run is recorded, replayed without effect, and a change of the code is found", async () => {
  const folder = project();
  const path = (name: string): string => join(folder, name);
  const up = await toolwright(folder, ["up", "pay", "--input", '{"amount":5}', "--run-id", "r1"]);
  expect(up.code).toBe(0);
  const recorded = await toolwright(folder, ["record", "r1"]);
  expect([recorded.code, recorded.stderr]).toEqual([0, ""]);
  expect(recorded.stdout).not.toContain("4242-4242");
  writeFileSync(path("r1.fixture.json"), recorded.stdout);
  const same = await toolwright(folder, ["replay", "r1.fixture.json"]);
  expect([same.code, same.stdout]).toEqual([0, "same  pay r1: 1 call, 0 responses, finished as recorded\n"]);
  expect(readFileSync(path("charges.txt"), "utf8")).toBe("5\n");
  writeFileSync(path("other.tsx"), WORKFLOW.replace("ctx.input.amount", "ctx.input.amount + 1"));
  const changed = await toolwright(folder, ["replay", "r1.fixture.json", "other.tsx", "--json"]);
  expect(changed.code).toBe(1);
  expect(changed.json()).toMatchObject({
    runId: "r1",
    same: false,
    diff: [{ kind: "call", nodeId: "pay", call: "charge", path: "input.amount", expected: 5, actual: 6 }],
  });
  writeFileSync(path("cut.json"), recorded.stdout.slice(0, recorded.stdout.length / 2));
  const cut = await toolwright(folder, ["replay", "cut.json"]);
  expect([cut.code, cut.stderr]).toEqual([1, expect.stringContaining("the file ends too early")]);
});

test("single calls and failures are recorded too; runs that cannot be recorded say why", async () => {
  const folder = project();
  const path = (name: string): string => join(folder, name);
  const call = await toolwright(folder, ["charge", "--amount", "5", "--card", "1234-5678", "--run-id", "t1"]);
  expect(call.code).toBe(0);
  writeFileSync(path("t1.fixture.json"), (await toolwright(folder, ["record", "t1"])).stdout);
  const replayed = await toolwright(folder, ["replay", "t1.fixture.json"]);
  expect([replayed.code, replayed.stdout]).toEqual([0, expect.stringContaining("same  charge t1: 1 call")]);
  await toolwright(folder, ["up", "pay", "--input", '{"amount":500}', "--run-id", "f1"]);
  writeFileSync(path("f1.fixture.json"), (await toolwright(folder, ["record", "f1"])).stdout);
  const failed = await toolwright(folder, ["replay", "f1.fixture.json", "pay.tsx"]);
  expect([failed.code, failed.stdout]).toEqual([0, expect.stringContaining("failed as recorded")]);
  expect(readFileSync(path("charges.txt"), "utf8")).toBe("5\n500\n");
  const unknown = await toolwright(folder, ["record", "nothing", "--json"]);
  expect([unknown.code, unknown.json()]).toEqual([
    1,
    { error: expect.objectContaining({ code: "TOOL_RUN_NOT_FOUND" }) },
  ]);
});

test("the guide's commands for an upgrade record and replay every finished run", async () => {
  const folder = project();
  for (const runId of ["r1", "r2"])
    await toolwright(folder, ["up", "pay", "--input", '{"amount":5}', "--run-id", runId]);
  const guide = readFileSync(new URL("../../docs/guides/going-back.md", import.meta.url), "utf8");
  const [, section = ""] = guide.split("### Check an upgrade");
  const blocks = [...section.matchAll(/```sh\n([^]*?)```/g)].slice(0, 2).map(([, lines = ""]) => lines);
  expect(blocks).toHaveLength(2);
  for (const block of blocks) {
    const pasted = paste(folder, block);
    expect(pasted, pasted.output).toMatchObject({ code: 0 });
  }
  expect(readdirSync(join(folder, "fixtures")).toSorted()).toEqual(["r1.fixture.json", "r2.fixture.json"]);
});
