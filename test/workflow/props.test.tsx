/** The props of components: unknown ones are refused, required ones are required, and a condition is true or false. */
import { createRuntime, createSmithers, runWorkflow } from "toolwright";
import { jsx } from "toolwright/jsx-runtime";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createStorePath } from "./harness.ts";

const { Workflow, Task, Sequence, Parallel, Branch, Loop, Approval, smithers, outputs } = createSmithers({
  decision: z.object({ approved: z.boolean() }),
});

type Loose = (props: never) => unknown;

/** An element as in a file without types. */
function element(type: unknown, props: object): never {
  return jsx(type as Loose, props as Record<string, unknown>) as never;
}

async function refusal(children: unknown): Promise<string> {
  return refusalOfRoot(element(Workflow, { name: "w", children }));
}

async function refusalOfRoot(tree: never): Promise<string> {
  await using runtime = createRuntime({ store: createStorePath() });
  const { status, error } = await runWorkflow(
    smithers(() => tree),
    { runtime },
  );
  expect({ status, code: error?.code }).toEqual({ status: "failed", code: "WORKFLOW_INVALID" });
  return error?.message ?? "";
}

/** The children of a branch. */
// oxlint-disable-next-line unicorn/no-thenable -- the name of a prop; nothing awaits it
const way = (node: unknown): object => ({ then: node });

const task = element(Task, { id: "inner", children: 1 });

describe("rule 33: an unknown prop", () => {
  it.each<[string, unknown, object, string]>([
    ["<Task approval>", Task, { id: "t", approval: true }, "needsApproval"],
    ["<Task requiresApproval>", Task, { id: "t", requiresApproval: true }, "needsApproval"],
    ["<Task needsAproval>", Task, { id: "t", needsAproval: true }, "needsApproval"],
    ["<Task if>", Task, { id: "t", if: false }, "skipIf"],
    ["<Task when>", Task, { id: "t", when: false }, "skipIf"],
    ["<Task retry>", Task, { id: "t", retry: 3 }, "retries"],
    ["<Task maxRetries>", Task, { id: "t", maxRetries: 3 }, "retries"],
    ["<Task timeout>", Task, { id: "t", timeout: 3 }, "timeoutMs"],
    ["<Task dependson>", Task, { id: "t", dependson: [] }, "dependsOn"],
    ["<Parallel concurrency>", Parallel, { concurrency: 1, children: task }, "maxConcurrency"],
    ["<Branch condition>", Branch, { if: true, condition: true, ...way(task) }, "if"],
    ["<Loop while>", Loop, { until: true, while: true, children: task }, "until"],
    ["<Loop maxIteration>", Loop, { until: true, maxIteration: 3, children: task }, "maxIterations"],
    ["<Approval title>", Approval, { id: "a", title: "Ship it?" }, "request"],
  ])("%s is refused with a suggestion", async (_what, type, props, meant) => {
    const message = await refusal(element(type, props));
    expect(message).toMatch(/has no prop "\w+"\. Did you mean "/);
    expect(message).toContain(`Did you mean "${meant}"?`);
  });

  it("of an object in a prop is refused with a full sentence, and so is a value that is not a condition", async () => {
    const nested = { id: "t", retryPolicy: { backof: "fixed" } };
    expect(await refusal(element(Task, nested))).toMatch(/task "t" has an unknown option "backof"/);
    const condition = { id: "t", skipIf: "false" };
    expect(await refusal(element(Task, condition))).toMatch(/task "t" needs true or false for skipIf/);
  });

  it.each<[string, unknown, object]>([
    ["<Task label>", Task, { id: "t", label: "mine" }],
    ["<Task asks>", Task, { id: "t", asks: true }],
    ["<Task prompt>", Task, { id: "t", prompt: "Do it." }],
    ["<Sequence skipIf>", Sequence, { skipIf: true, children: task }],
    ["<Parallel id>", Parallel, { id: "p", children: task }],
    ["<Branch> with children", Branch, { if: true, children: task }],
    ["<Approval agent>", Approval, { id: "a", agent: {} }],
  ])("%s is refused", async (_what, type, props) => {
    expect(await refusal(element(type, props))).toMatch(/has no prop "/);
  });

  it("of the <Workflow> is refused too", async () => {
    const tree = element(Workflow, { name: "w", allowNetwork: true, children: task });
    expect(await refusalOfRoot(tree)).toContain('<Workflow> has no prop "allowNetwork".');
  });
});

describe("a required prop", () => {
  it.each<[string, unknown, object, RegExp]>([
    ["<Task> without id", Task, { children: 1 }, /<Task> needs the prop "id"/],
    ["<Approval> without id", Approval, {}, /<Approval> needs the prop "id"/],
    ["<Branch> without if", Branch, way(task), /<Branch> needs the prop "if"/],
    ["<Loop> without until", Loop, { children: task }, /<Loop> needs the prop "until"/],
    ["<Loop> with a limit only", Loop, { maxIterations: 3, children: task }, /<Loop> needs the prop "until"/],
    ["an <Approval request> without title", Approval, { id: "a", request: {} }, /request\.title is missing/],
  ])("%s is refused", async (_what, type, props, words) => {
    expect(await refusal(element(type, props))).toMatch(words);
  });
});

describe("a prop of the wrong type", () => {
  it.each<[string, unknown, object]>([
    ["needsApproval", Task, { id: "t", needsApproval: "false" }],
    ["skipIf", Task, { id: "t", skipIf: "false" }],
    ["continueOnFail", Task, { id: "t", continueOnFail: 1 }],
    ["cache", Task, { id: "t", cache: "false" }],
    ["retries", Task, { id: "t", retries: "3" }],
    ["timeoutMs", Task, { id: "t", timeoutMs: "3" }],
    ["retryPolicy.backof", Task, { id: "t", retryPolicy: { backof: "fixed" } }],
    ["dependsOn", Task, { id: "t", dependsOn: "other" }],
    ["agent", Task, { id: "t", agent: {} }],
    ["onDeny", Approval, { id: "a", onDeny: "ignore" }],
    ["request.sumary", Approval, { id: "a", request: { title: "t", sumary: "s" } }],
    ["maxConcurrency", Parallel, { maxConcurrency: "1", children: task }],
    ["maxIterations", Loop, { until: false, maxIterations: 0, children: task }],
    ["onMaxReached", Loop, { until: false, maxIterations: 1, onMaxReached: "stop", children: task }],
    ["until", Loop, { until: "no", maxIterations: 1, children: task }],
    ["if", Branch, { if: 1, ...way(task) }],
  ])("%s is refused by name", async (prop, type, props) => {
    expect(await refusal(element(type, props))).toContain(prop.split(".").at(-1));
  });
});

describe("something that is not a component", () => {
  it("<div> is named, with the valid components", async () => {
    expect(await refusal(element("div", { children: task }))).toMatch(/<div> is not a workflow component/);
  });

  it("<div> at the root is named too", async () => {
    expect(await refusalOfRoot(element("div", { children: task }))).toMatch(
      /<div> is not a workflow component/,
    );
  });

  it("an import that is undefined has its own error", async () => {
    expect(await refusal(element(undefined, {}))).toMatch(/undefined instead of a component/);
  });
});

describe("<Approval>", () => {
  it.each<[string, object, string]>([
    [
      "request",
      { request: { title: "Ship it?", summary: "Version 2 to all users." } },
      "Ship it?\nVersion 2 to all users.",
    ],
    ["a request without summary", { request: { title: "Ship it?" } }, "Ship it?"],
    ["a prompt", { prompt: "Ship it?" }, "Ship it?"],
    ["a text between the tags", { children: "Ship it?" }, "Ship it?"],
  ])("shows %s", async (_what, props, prompt) => {
    await using runtime = createRuntime({ store: createStorePath() });
    const workflow = smithers(() =>
      element(Workflow, {
        name: "w",
        children: element(Approval, { id: "ship", output: outputs.decision, ...props }),
      }),
    );
    const first = await runWorkflow(workflow, { runtime, runId: "r" });
    expect(first.status).toBe("waiting-approval");
    const [request] = await runtime.approvals({ runId: "r" });
    expect(request?.prompt).toBe(prompt);
    await runtime.resolveToolApproval(request?.id ?? "", { approved: true });
    const second = await runWorkflow(workflow, { runtime, runId: "r", resume: true });
    expect(second).toMatchObject({ status: "finished", output: { approved: true } });
  });

  it("with two prompts is refused", async () => {
    const props = { id: "a", prompt: "One?", request: { title: "Two?" } };
    expect(await refusal(element(Approval, props))).toMatch(/more than one prompt/);
  });
});

describe("a task", () => {
  it("contains no other element", async () => {
    const inside = element(Task, { id: "outer", children: task });
    expect(await refusal(inside)).toBe(
      'Workflow: task "outer" contains an element: a task is one step and contains no others.',
    );
    expect(await refusal(element(Task, { id: "outer", children: ["Do this:", task] }))).toContain(
      "contains an element",
    );
  });

  it("that failed has the fix that its own error names", async () => {
    await using runtime = createRuntime({ store: createStorePath() });
    const closed = (): never => {
      throw Object.assign(new Error("The shop is closed."), { hint: "Open it with: shop open" });
    };
    const run = (children: unknown, more: object = {}) =>
      runWorkflow(
        smithers(() =>
          element(Workflow, {
            name: "w",
            children: element(Task, { id: "t", retries: 0, ...more, children }),
          }),
        ),
        { runtime },
      );
    expect((await run(closed)).error).toMatchObject({ hint: "Open it with: shop open" });
    expect((await run("Decide.", { output: outputs.decision })).error).toMatchObject({
      hint: expect.stringContaining('add an agent: <Task id="t" agent={…}>') as string,
    });
    expect((await run(() => Promise.reject(new Error("Gone.")))).error).toMatchObject({
      hint: "Fix the problem that the message names, then resume the run.",
    });
  });
});
