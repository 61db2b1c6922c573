/** `toolwright.config`: the defaults of every command. A flag overrides it, and it overrides the built-in defaults. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createRuntime, createSmithers, runWorkflow } from "toolwright";
import { expect, it } from "vitest";
import { z } from "zod";
import { createFolder, type Finished, toolwright } from "./command.ts";

/** Prints the settings of its tools, then waits for approval. */
const SETTINGS = `
import { createSmithers, defineTool } from "toolwright";
import { z } from "zod";
const look = defineTool({
  name: "look",
  schema: z.object({ at: z.string() }),
  execute: (_args, ctx) => ({
    rootDir: ctx.rootDir, allowNetwork: ctx.allowNetwork, maxOutputBytes: ctx.maxOutputBytes,
    timeoutMs: ctx.timeoutMs, isolation: ctx.isolation,
  }),
});
const { Workflow, Task, Approval, smithers, outputs } = createSmithers({ start: z.any(), output: z.any() });
export default smithers(() => (
  <Workflow name="settings">
    <Task id="start" output={outputs.start}>{() => look.execute({ at: "start" })}</Task>
    <Approval id="gate" prompt="Continue?" />
    <Task id="end" output={outputs.output}>{() => look.execute({ at: "end" })}</Task>
  </Workflow>
));
`;

const config = (text: string): Record<string, string> => ({
  "toolwright.config.ts": `export default { ${text} };`,
});

function startOf(up: Finished): Record<string, unknown> {
  const { outputs } = up.json() as { outputs: { start: [Record<string, unknown>] } };
  return outputs.start[0];
}

async function approveAll(folder: string): Promise<void> {
  const [request] = (await toolwright(folder, ["approvals", "--json"])).json() as { id: string }[];
  expect(await toolwright(folder, ["approve", request?.id ?? ""])).toMatchObject({ code: 0 });
}

it("is the default of up, ps, approvals, why, calls, inspect, approve, resume and gc", async () => {
  const folder = createFolder({
    "w.tsx": SETTINGS,
    ...config('store: "app.db", workflows: { look: "./w.tsx" }'),
  });
  const up = await toolwright(folder, ["up", "look", "--run-id", "r"]);
  expect(up.code).toBe(3);
  // The printed commands work unchanged: none of them needs --store here.
  expect(up.stdout).toMatch(/resume r/);
  expect(up.stdout).not.toContain("--store");
  expect([existsSync(join(folder, "app.db")), existsSync(join(folder, "toolwright.db"))]).toEqual([
    true,
    false,
  ]);
  expect((await toolwright(folder, ["ps", "--json"])).json()).toMatchObject([{ runId: "r" }]);
  expect((await toolwright(folder, ["calls", "r", "--json"])).json()).toMatchObject([{ toolName: "look" }]);
  expect(await toolwright(folder, ["why", "r"])).toMatchObject({ code: 0 });
  expect(await toolwright(folder, ["inspect", "r"])).toMatchObject({ code: 0 });
  await approveAll(folder);
  expect(await toolwright(folder, ["resume", "r"])).toMatchObject({ code: 0 });
  expect(await toolwright(folder, ["gc", "--dry-run"])).toMatchObject({ code: 0 });
  const other = await toolwright(folder, ["ps", "--store", "toolwright.db", "--json"]);
  expect(other.json()).toEqual([]);
});

it("rule 33: sets the settings of tools; a flag overrides it, and a resume keeps the settings of the run", async () => {
  const text =
    'store: "app.db", rootDir: "work", allowNetwork: true, maxOutputBytes: 5_000, toolTimeoutMs: 7_000, isolation: "off"';
  const folder = createFolder({ "w.tsx": SETTINGS, ...config(text) });
  mkdirSync(join(folder, "work"));
  mkdirSync(join(folder, "other"));
  const up = await toolwright(folder, ["up", "w.tsx", "--run-id", "r", "--json"]);
  expect(startOf(up)).toEqual({
    rootDir: join(folder, "work"),
    allowNetwork: true,
    maxOutputBytes: 5_000,
    timeoutMs: 7_000,
    isolation: "off",
  });
  const flags = ["--root-dir", "other", "--no-allow-network", "--max-output-bytes", "6000"];
  const flagged = await toolwright(folder, [
    "up",
    "w.tsx",
    "--run-id",
    "f",
    "--json",
    ...flags,
    "--tool-timeout-ms",
    "8000",
    "--isolation",
    "auto",
  ]);
  expect(startOf(flagged)).toEqual({
    rootDir: join(folder, "other"),
    allowNetwork: false,
    maxOutputBytes: 6_000,
    timeoutMs: 8_000,
    isolation: "auto",
  });
  // The config changes afterwards: a run keeps its settings until a flag overrides them.
  writeFileSync(
    join(folder, "toolwright.config.ts"),
    'export default { store: "app.db", maxOutputBytes: 9_000 };',
  );
  await approveAll(folder);
  const resumed = await toolwright(folder, ["resume", "r", "--no-allow-network", "--json"]);
  expect(resumed.json()).toMatchObject({
    output: { rootDir: join(folder, "work"), allowNetwork: false, maxOutputBytes: 5_000, isolation: "off" },
  });
});

it("applies to tools that run as commands, and refuses invalid values", async () => {
  const tool = `import { defineTool } from "toolwright"; import { z } from "zod";
    const look = defineTool({ name: "look", schema: z.object({}), execute: (_args, ctx) => ctx.maxOutputBytes });`;
  const folder = createFolder({
    "toolwright.config.ts": `${tool} export default { tools: [look], maxOutputBytes: 5_000 };`,
  });
  expect(await toolwright(folder, ["look"])).toMatchObject({ code: 0, stdout: "5000\n" });
  for (const [text, words] of [
    ['allowNetwork: "false"', 'allowNetwork must be true or false, not "false".'],
    ["isolation: true", 'isolation must be "require", "auto" or "off", not true.'],
    ['toolTimeoutMs: "5"', "toolTimeoutMs must be a number"],
    ["workflows: { order: 7 }", "workflows.order must be a non-empty string"],
    ["alowNetwork: true", 'unknown option "alowNetwork". Did you mean "allowNetwork"?'],
    ["tools: { helper() {} }", 'tools.helper must be a tool, not a function ("helper").'],
  ]) {
    const refused = await toolwright(createFolder(config(text ?? "")), ["tools"]);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining(words ?? "") });
  }
});

it("reads a registry as its tools, and does not turn its methods into commands", async () => {
  const folder = createFolder({
    "toolwright.config.ts": `import { createRegistry, defineTool } from "toolwright"; import { z } from "zod";
      const tools = createRegistry([defineTool({ name: "look", schema: z.object({}), execute: () => 1 })]);
      export default { tools };`,
  });
  const listed = (await toolwright(folder, ["tools", "--json"])).json() as { name: string }[];
  expect(listed.map(({ name }) => name)).toEqual(["look"]);
});

it("lists its workflows when up gets an unknown name", async () => {
  const folder = createFolder({ "w.tsx": SETTINGS, ...config('workflows: { settings: "./w.tsx" }') });
  const refused = await toolwright(folder, ["up", "setings"]);
  expect(refused).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(
      'There is no workflow named "setings" in toolwright.config. Did you mean "settings"?',
    ),
  });
});

it("reports a workflow that names another store than the command uses", async () => {
  const named = SETTINGS.replace("z.any() })", 'z.any() }, { store: "mine.db" })');
  const folder = createFolder({ "w.tsx": named });
  const up = await toolwright(folder, ["up", "w.tsx", "--store", "other.db"]);
  expect(up.stderr).toContain("the workflow names the store mine.db; this command uses other.db.");
  const same = await toolwright(folder, ["up", "w.tsx", "--store", "./mine.db"]);
  expect(same.stderr).not.toContain("names the store");
});

it("resumes a program's run by its file, in its root, and names the file in the hint if the file changed", async () => {
  const folder = createFolder({ "w.tsx": SETTINGS });
  const root = createFolder();
  const store = join(folder, "toolwright.db");
  const start = async (key: string, runId: string): Promise<void> => {
    const { Workflow, Approval, smithers } = createSmithers({ start: z.any(), [key]: z.any() });
    const { jsx } = await import("toolwright/jsx-runtime");
    const gate = jsx(Approval, { id: "gate" });
    const workflow = smithers(() => jsx(Workflow, { name: "settings", children: gate }));
    await using runtime = createRuntime({ store, rootDir: root });
    await runWorkflow(workflow, { runtime, runId });
    const [request] = await runtime.approvals({ status: "pending" });
    await runtime.resolveToolApproval(request?.id ?? "", { approved: true });
  };
  await start("output", "same");
  await start("other", "changed");
  const same = await toolwright(folder, ["resume", "same", "--file", "w.tsx", "--json"]);
  expect(same.json()).toMatchObject({ status: "finished", output: { rootDir: root } });
  const changed = await toolwright(folder, ["resume", "changed", "--file", "w.tsx"]);
  expect(changed).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/has changed[^]*resume changed --file w\.tsx --accept-changes/),
  });
  expect(
    await toolwright(folder, ["resume", "changed", "--file", "w.tsx", "--accept-changes"]),
  ).toMatchObject({ code: 0 });
});
