/** A run id that was used before: the recorded answer comes with a warning, once, that says how to start over. */
import { ToolLoopAgent } from "ai";
import { expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { createRuntime, createWorkflows, defineTool, runWorkflow } from "toolwright";
import { recordModel } from "toolwright/ai-sdk";
import { createScriptedModel } from "toolwright/testing";

function watchWarnings(): string[] {
  const lines: string[] = [];
  const warn = vi.spyOn(console, "warn").mockImplementation((line: string) => void lines.push(line));
  onTestFinished(() => warn.mockRestore());
  return lines;
}

test("of a workflow that has ended", async () => {
  const warnings = watchWarnings();
  const { Workflow, Task, workflow, outputs } = createWorkflows({ output: z.object({ n: z.number() }) });
  const one = workflow(() => (
    <Workflow name="one">
      <Task id="one" output={outputs.output}>
        {() => ({ n: 1 })}
      </Task>
    </Workflow>
  ));
  await using runtime = createRuntime({ store: ":memory:" });
  const run = () => runWorkflow(one, { runtime, runId: "r", resume: "auto" });
  await run();
  expect(warnings).toEqual([]);
  await run();
  expect(await run()).toMatchObject({ status: "finished", output: { n: 1 } });
  expect(warnings).toEqual([
    expect.stringMatching(/run "r" has ended.*recorded answer; no task was run.*another runId/),
  ]);
});

test("of an AI SDK agent with a recorded model, but not while its run is resumed", async () => {
  const warnings = watchWarnings();
  await using runtime = createRuntime({ store: ":memory:" });
  const pay = defineTool({ name: "pay", schema: z.object({}), needsApproval: true, execute: () => "paid" });
  const run = async () => {
    const model = createScriptedModel(
      [({ turn }) => (turn === 0 ? [{ toolName: "pay", input: {} }] : "Done.")],
      { atEnd: "repeat-last" },
    );
    const agent = new ToolLoopAgent({ model: recordModel(model), tools: { pay } });
    return (await runtime.run({ runId: "r" }, () => agent.generate({ prompt: "Pay." }))).text;
  };
  await run();
  const [request] = await runtime.approvals({ status: "pending" });
  await runtime.resolveToolApproval(request?.id ?? "", { approved: true });
  expect(await run()).toBe("Done.");
  expect(warnings).toEqual([]);
  expect(await run()).toBe("Done.");
  await run();
  expect(warnings).toEqual([
    expect.stringMatching(
      /run "r" was used before.*recorded answer; the model was not called.*another runId/,
    ),
  ]);
});
