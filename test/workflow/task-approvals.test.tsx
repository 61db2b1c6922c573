/** Tasks that wait for approval, cached outputs, and runs that another process cancels. */
import { createRuntime, createSmithers, runWorkflow } from "toolwright";
import { expect, it } from "vitest";
import { z } from "zod";
import { changeRows, createStorePath } from "./harness.ts";

async function decide(dbPath: string, approved: boolean): Promise<void> {
  await using runtime = createRuntime({ store: dbPath });
  const [request] = await runtime.approvals({ status: "pending" });
  await runtime.resolveToolApproval(request?.id ?? "", { approved, comment: "seen" });
}

function createDeploy(dbPath: string, onDeny?: "fail" | "continue" | "skip") {
  const ran: string[] = [];
  const { Workflow, Task, Approval, smithers, outputs } = createSmithers(
    {
      decision: z.object({ approved: z.boolean(), comment: z.string().nullable() }),
      done: z.object({ at: z.string() }),
    },
    { dbPath },
  );
  const workflow = smithers(() => (
    <Workflow name="deploy">
      <Approval id="gate" output={outputs.decision} prompt="Ship it?" onDeny={onDeny} />
      <Task id="ship" output={outputs.done} needsApproval approvalPrompt="Really?">
        {() => {
          ran.push("ship");
          return { at: "now" };
        }}
      </Task>
    </Workflow>
  ));
  return { workflow, ran };
}

it("an Approval and a task that needs approval each wait for their own decision", async () => {
  const dbPath = createStorePath();
  const { workflow, ran } = createDeploy(dbPath);
  expect((await runWorkflow(workflow, { runId: "r" })).status).toBe("waiting-approval");
  await decide(dbPath, true);
  expect((await runWorkflow(workflow, { runId: "r", resume: true })).status).toBe("waiting-approval");
  expect(ran).toEqual([]);
  await decide(dbPath, true);
  const result = await runWorkflow(workflow, { runId: "r", resume: true });
  expect(result).toMatchObject({ status: "finished", output: { at: "now" } });
  expect(result.outputs["decision"]).toEqual([{ approved: true, comment: "seen" }]);
  expect(ran).toEqual(["ship"]);
});

it("a denial fails the run by default, and no later task starts", async () => {
  const dbPath = createStorePath();
  const { workflow, ran } = createDeploy(dbPath);
  await runWorkflow(workflow, { runId: "r" });
  await decide(dbPath, false);
  const result = await runWorkflow(workflow, { runId: "r", resume: true });
  expect(result.status).toBe("failed");
  expect(result.error?.message).toContain("seen");
  // No model reads it: the operator does.
  expect(result.error?.hint).toContain("start another run");
  expect(ran).toEqual([]);
});

it("a denial that the run continues with is an output", async () => {
  const dbPath = createStorePath();
  const { workflow } = createDeploy(dbPath, "continue");
  await runWorkflow(workflow, { runId: "r" });
  await decide(dbPath, false);
  const result = await runWorkflow(workflow, { runId: "r", resume: true });
  expect(result.outputs["decision"]).toEqual([{ approved: false, comment: "seen" }]);
  expect(result.status).toBe("waiting-approval");
});

it("a cached task takes the output of an equal task of an earlier run, and runs for different inputs", async () => {
  const dbPath = createStorePath();
  let runs = 0;
  const { Workflow, Task, smithers, outputs } = createSmithers(
    { input: z.object({ n: z.number() }), n: z.number() },
    { dbPath },
  );
  const workflow = smithers((ctx) => (
    <Workflow name="cached">
      <Task id="given" output={outputs.n}>
        {ctx.input.n}
      </Task>
      <Task id="costly" output={outputs.n} deps={{ given: outputs.n }} cache>
        {(deps) => {
          runs += 1;
          return deps.given * 2;
        }}
      </Task>
    </Workflow>
  ));
  for (const n of [1, 1, 2]) expect((await runWorkflow(workflow, { input: { n } })).output).toBe(n * 2);
  expect(runs).toBe(2);
});

it("a run that another process cancels stops, and can be resumed", async () => {
  const dbPath = createStorePath();
  let isSlow = true;
  const begun = Promise.withResolvers<void>();
  const { Workflow, Task, smithers, outputs } = createSmithers({ n: z.number() }, { dbPath });
  const workflow = smithers(() => (
    <Workflow name="slow">
      <Task id="t" output={outputs.n}>
        {async () => {
          begun.resolve();
          if (isSlow) await new Promise(() => undefined);
          return 1;
        }}
      </Task>
      <Task id="after" output={outputs.n}>
        {2}
      </Task>
    </Workflow>
  ));
  const running = runWorkflow(workflow, { runId: "r" });
  await begun.promise;
  await changeRows(dbPath, "UPDATE toolwright_workflow_runs SET cancel_requested = 1");
  expect((await running).status).toBe("cancelled");
  isSlow = false;
  expect(await runWorkflow(workflow, { runId: "r", resume: true })).toMatchObject({
    status: "finished",
    output: 2,
  });
});
