/** A smart agent as the agent of a task: its responses, calls and pending approvals belong to the task. */
import { createRuntime, createSmartAgent, createSmithers, runWorkflow } from "toolwright";
import { createScriptedModel } from "toolwright/testing";
import { expect, it } from "vitest";
import { z } from "zod";
import { createStorePath, rowsOf } from "../workflow/harness.ts";
import { call, createOrders } from "./harness.ts";

it("waits with its task, resumes in another runtime, and requests no approval twice", async () => {
  const store = createStorePath();
  const { placed, order } = createOrders({ needsApproval: true });
  const model = createScriptedModel([[call("order", { sku: "apple" })], '{"orders": 1}']);
  const agent = createSmartAgent({ model, tools: [order] });
  const { Workflow, Task, smithers, outputs } = createSmithers({ output: z.object({ orders: z.number() }) });
  const workflow = smithers(() => (
    <Workflow name="shopping">
      <Task id="buy" agent={agent} output={outputs.output}>
        Order an apple.
      </Task>
    </Workflow>
  ));
  {
    await using runtime = createRuntime({ store });
    expect(await runWorkflow(workflow, { runtime, runId: "r" })).toMatchObject({
      status: "waiting-approval",
    });
    const [request] = await runtime.approvals({ status: "pending" });
    expect(request).toMatchObject({ runId: "r", nodeId: "buy", toolName: "order" });
    await runtime.resolveToolApproval(request?.id ?? "", { approved: true });
  }
  await using runtime = createRuntime({ store });
  expect(await runWorkflow(workflow, { runtime, runId: "r", resume: true })).toMatchObject({
    status: "finished",
    output: { orders: 1 },
  });
  expect(placed).toEqual(["apple"]);
  expect(model.requests).toHaveLength(2);
  expect(await rowsOf(store, "SELECT 1 AS one FROM toolwright_responses")).toEqual([]);
});
