/** A resumed run keeps the root that it started with, even a default one, and its version. */
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRuntime, createSmithers, runWorkflow, write } from "toolwright";
import { expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { createStorePath } from "./harness.ts";

function createFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "toolwright-root-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Writes a file, waits for approval, writes another one. */
function createTwoWrites() {
  const { Workflow, Task, Approval, smithers } = createSmithers({ output: z.object({}) });
  return smithers(() => (
    <Workflow name="two-writes">
      <Task id="one">{() => write.execute({ path: "one.txt", content: "1" })}</Task>
      <Approval id="ask" />
      <Task id="two">{() => write.execute({ path: "two.txt", content: "2" })}</Task>
    </Workflow>
  ));
}

async function startIn(store: string, rootDir: string, options: object = {}): Promise<void> {
  await using runtime = createRuntime({ store, rootDir });
  const { status } = await runWorkflow(createTwoWrites(), { runtime, runId: "r", ...options });
  expect(status).toBe("waiting-approval");
  const [request] = await runtime.approvals({ status: "pending" });
  await runtime.resolveToolApproval(request?.id ?? "", { approved: true });
}

it("rule 33: resumes in the root of its start, even if the runtime has another root", async () => {
  const [first, second, store] = [createFolder(), createFolder(), createStorePath()];
  await startIn(store, first);
  await using runtime = createRuntime({ store, rootDir: second });
  const result = await runWorkflow(createTwoWrites(), { runtime, runId: "r", resume: true });
  expect(result).toMatchObject({ status: "finished", error: undefined });
  expect(readFileSync(join(first, "two.txt"), "utf8")).toBe("2");
  expect(existsSync(join(second, "two.txt"))).toBe(false);
});

it("resumes in another root if it is passed explicitly", async () => {
  const [first, second, store] = [createFolder(), createFolder(), createStorePath()];
  await startIn(store, first);
  await using runtime = createRuntime({ store });
  await runWorkflow(createTwoWrites(), { runtime, runId: "r", resume: true, rootDir: second });
  expect(existsSync(join(second, "two.txt"))).toBe(true);
});

it("does not report a program's run as changed when a file is passed at its resume", async () => {
  const [root, store] = [createFolder(), createStorePath()];
  await startIn(store, root);
  const file = join(root, "workflow.tsx");
  writeFileSync(file, "the same workflow, as a file");
  await using runtime = createRuntime({ store });
  const result = await runWorkflow(createTwoWrites(), { runtime, runId: "r", resume: true, file });
  expect(result.status).toBe("finished");
});

it("does not report a file's run as changed when a program resumes it", async () => {
  const [root, store] = [createFolder(), createStorePath()];
  const file = join(root, "workflow.tsx");
  writeFileSync(file, "the workflow, as a file");
  await startIn(store, root, { file });
  await using runtime = createRuntime({ store });
  const result = await runWorkflow(createTwoWrites(), { runtime, runId: "r", resume: true });
  expect(result.status).toBe("finished");
});

it("still reports a run as changed when its file has changed", async () => {
  const [root, store] = [createFolder(), createStorePath()];
  const file = join(root, "workflow.tsx");
  writeFileSync(file, "the workflow, as a file");
  await startIn(store, root, { file });
  writeFileSync(file, "another workflow");
  await using runtime = createRuntime({ store });
  for (const given of [{}, { file }]) {
    await expect(
      runWorkflow(createTwoWrites(), { runtime, runId: "r", resume: true, ...given }),
    ).rejects.toMatchObject({ code: "WORKFLOW_RUN_CHANGED" });
  }
});
