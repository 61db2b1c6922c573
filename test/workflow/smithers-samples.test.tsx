// oxlint-disable typescript/restrict-template-expressions -- the samples are as they are
/** The workflow samples of the Smithers pages: the package name and the model are changed, nothing else. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ToolLoopAgent as Agent } from "ai";
import { bash, createSmithers, edit, grep, read, runWorkflow, Task, tools, write } from "toolwright";
import { createScriptedModel } from "toolwright/testing";
import { expect, it, onTestFinished } from "vitest";
import { z } from "zod";

/** Samples name no store: it is in the working directory. */
function enterFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "toolwright-seeds-"));
  const before = process.cwd();
  process.chdir(folder);
  onTestFinished(() => {
    process.chdir(before);
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

const anthropic = (modelId: string) =>
  createScriptedModel(
    [
      ({ prompt }) => {
        const turn = prompt.filter(({ role }) => role === "assistant").length;
        if (turn === 0) return [{ toolName: "read", input: { path: "auth.ts" } }];
        if (turn === 1)
          return [{ toolName: "write", input: { path: "auth.ts", content: "export const a = 1;\n" } }];
        if (turn === 2) return [{ toolName: "bash", input: { cmd: "sh", args: ["-c", "cat auth.ts"] } }];
        return 'Done.\n```json\n{"summary":"It reads well now."}\n```';
      },
    ],
    { atEnd: "repeat-last", modelId },
  );

it("the refactoring of the reference page", async () => {
  const folder = enterFolder();
  writeFileSync(join(folder, "auth.ts"), "export const a=1\n");

  const codeAgent = new Agent({
    model: anthropic("claude-fable-5"),
    tools, // { read, write, edit, bash, grep }
  });

  const { Workflow, smithers, outputs } = createSmithers({
    result: z.object({ summary: z.string() }),
  });

  const workflow = smithers((ctx) => (
    <Workflow name="refactor">
      <Task id="refactor" output={outputs.result} agent={codeAgent}>
        {`Refactor ${ctx.input.file} for readability and run the tests.`}
      </Task>
    </Workflow>
  ));

  const result = await runWorkflow(workflow, { input: { file: "auth.ts" }, rootDir: folder });
  expect(result).toMatchObject({ status: "finished", output: { summary: "It reads well now." } });
  expect(readFileSync(join(folder, "auth.ts"), "utf8")).toBe("export const a = 1;\n");
});

it("the refactoring of the guide, with the options of the run", async () => {
  const folder = enterFolder();
  writeFileSync(join(folder, "auth.ts"), "export const a=1\n");

  const codeAgent = new Agent({
    model: anthropic("claude-sonnet-4-20250514"),
    tools: { read, write, edit, grep, bash },
    instructions: "You are a senior engineer. Use the available tools to complete tasks.",
  });

  const { Workflow, smithers, outputs } = createSmithers({
    result: z.object({ summary: z.string() }),
  });

  const workflow = smithers((ctx) => (
    <Workflow name="refactor">
      <Task id="refactor" output={outputs.result} agent={codeAgent}>
        {`Refactor the function in ${ctx.input.file} to improve readability.`}
      </Task>
    </Workflow>
  ));

  const result = await runWorkflow(workflow, {
    input: { file: "src/auth.ts" },
    rootDir: folder,
    allowNetwork: false,
    maxOutputBytes: 500_000,
    toolTimeoutMs: 120_000,
  });
  expect(result).toMatchObject({ status: "finished", output: { summary: "It reads well now." } });
});
