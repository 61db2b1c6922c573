/** Valid trees, and the errors of invalid ones. Each error names the node. */
import { createSmithers, runWorkflow, Task as RootTask } from "toolwright";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createStorePath } from "./harness.ts";

function create() {
  return createSmithers({ step: z.object({ at: z.string() }) }, { dbPath: createStorePath() });
}

describe("a tree", () => {
  it("may contain fragments, custom components, conditions, arrays and nested groups", async () => {
    const { Workflow, Task, Sequence, Parallel, smithers, outputs } = create();
    const Step = ({ id }: { id: string }) => (
      <Task id={id} output={outputs.step}>
        {{ at: id }}
      </Task>
    );
    const Pair = ({ name, children }: { name: string; children?: unknown }) => (
      <>
        <Step id={`${name}-1`} />
        {children as never}
        <Step id={`${name}-2`} />
      </>
    );
    const workflow = smithers(() => (
      <Workflow name="w">
        <Pair name="a">
          <Step id="between" />
        </Pair>
        {[]}
        {null}
        {undefined}
        {false}
        {["x", "y"].map((id) => (
          <Step key={id} id={id} />
        ))}
        <Parallel>
          <Sequence>
            <>
              <>
                <Step id="deep" />
              </>
            </>
          </Sequence>
        </Parallel>
      </Workflow>
    ));
    const result = await runWorkflow(workflow);
    expect(result.outputs["step"]).toEqual(["a-1", "between", "a-2", "x", "y", "deep"].map((at) => ({ at })));
  });

  it("may have a component or a fragment at its root", async () => {
    const { Workflow, Task, smithers } = create();
    const Root = () => (
      <Workflow name="w">
        <Task id="t">{1}</Task>
      </Workflow>
    );
    expect((await runWorkflow(smithers(() => <Root />))).status).toBe("finished");
    const inFragment = smithers(() => (
      <>
        <Root />
      </>
    ));
    expect((await runWorkflow(inFragment)).status).toBe("finished");
  });

  it("may use the components of the package", async () => {
    const { Workflow, smithers, outputs } = create();
    const workflow = smithers(() => (
      <Workflow name="w">
        <RootTask id="t" output={outputs.step}>
          {{ at: "root" }}
        </RootTask>
      </Workflow>
    ));
    expect((await runWorkflow(workflow)).output).toEqual({ at: "root" });
  });
});

describe("an error", () => {
  async function messageOf(render: Parameters<ReturnType<typeof create>["smithers"]>[0]): Promise<string> {
    const { smithers } = create();
    const result = await runWorkflow(smithers(render));
    expect(result.status).toBe("failed");
    expect(result.error?.code).toBe("WORKFLOW_INVALID");
    return result.error?.message ?? "";
  }
  const { Workflow, Task, Branch, Loop, Parallel, outputs } = createSmithers({
    step: z.object({ at: z.string() }),
  });

  it("names an id that appears twice", async () => {
    const message = await messageOf(() => (
      <Workflow name="w">
        <Task id="twin">{1}</Task>
        <Parallel>
          <Task id="twin">{2}</Task>
        </Parallel>
      </Workflow>
    ));
    expect(message).toMatch(/"twin".*twice/);
  });

  it("names the task whose output is missing", async () => {
    const message = await messageOf((ctx) => (
      <Workflow name="w">
        <Task id="t">{ctx.output(outputs.step, { nodeId: "writer" }).at}</Task>
      </Workflow>
    ));
    expect(message).toMatch(/"writer".*"step"/);
  });

  it.each([
    ["an output that createSmithers was not given", { output: undefined }, /"t".*undefined/],
    ["an output by its name", { output: "step" }, /"t".*"step"/],
    ["an approval that is neither true nor false", { needsApproval: "yes" }, /"t".*needsApproval.*"yes"/],
    ["an invalid condition", { skipIf: () => true }, /"t".*skipIf.*a function/],
    ["a gate that is misspelt", { needsAproval: true }, /"t" has no prop "needsAproval"/],
    ["an id that no store takes", { id: "x".repeat(600) }, /"xxx.*512 bytes/],
  ])("names a task with %s", async (_what, slip, words) => {
    const props: { id: string } = { id: "t", ...slip };
    const message = await messageOf(() => (
      <Workflow name="w">
        <Task {...props}>{1}</Task>
      </Workflow>
    ));
    expect(message).toMatch(words);
  });

  it("names a branch and a loop with an invalid condition", async () => {
    const odd = { at: "x" } as unknown as boolean;
    const branch = await messageOf(() => (
      <Workflow name="w">
        <Branch if={odd} then={<Task id="t">{1}</Task>} />
      </Workflow>
    ));
    expect(branch).toMatch(/<Branch> needs true or false for if, not an object/);
    const loop = await messageOf(() => (
      <Workflow name="w">
        <Loop id="l" until={odd} maxIterations={2}>
          <Task id="t">{1}</Task>
        </Loop>
      </Workflow>
    ));
    expect(loop).toMatch(/<Loop id="l"> needs true or false for until/);
  });

  it("names a group whose limit is misspelt", async () => {
    const bound = { maxConcurency: 1 };
    const parallel = await messageOf(() => (
      <Workflow name="w">
        <Parallel {...bound}>
          <Task id="t">{1}</Task>
        </Parallel>
      </Workflow>
    ));
    expect(parallel).toMatch(/<Parallel> has no prop "maxConcurency". Did you mean "maxConcurrency"\?/);
  });

  it("names a loop without an end", async () => {
    const message = await messageOf(() => (
      <Workflow name="w">
        <Loop id="forever" until={undefined as unknown as boolean}>
          <Task id="t">{1}</Task>
        </Loop>
      </Workflow>
    ));
    expect(message).toMatch(/forever.*never end/);
  });

  it("names a dependency that is not in the tree, and the task that needs it", async () => {
    const message = await messageOf(() => (
      <Workflow name="w">
        <Task id="t" dependsOn={["missing"]}>
          {1}
        </Task>
      </Workflow>
    ));
    expect(message).toMatch(/"t".*"missing"/);
  });

  it("is given for a workflow inside a workflow", async () => {
    const message = await messageOf(() => (
      <Workflow name="w">
        <Workflow name="inner" />
      </Workflow>
    ));
    expect(message).toMatch(/<Workflow>.*inside/);
  });

  it("is given if the root is not a workflow", async () => {
    expect(await messageOf(() => <Task id="t">{1}</Task>)).toMatch(/root.*<Workflow>/);
    expect(await messageOf(() => null as never)).toMatch(/root.*<Workflow>/);
  });

  it("is given for a task without an id", async () => {
    const message = await messageOf(() => (
      <Workflow name="w">
        <Task id="">{1}</Task>
      </Workflow>
    ));
    expect(message).toMatch(/<Task>.*id/);
  });

  it("is given for a text between elements, with the text", async () => {
    const message = await messageOf(() => (
      <Workflow name="w">
        Hello
        <Task id="t">{1}</Task>
      </Workflow>
    ));
    expect(message).toMatch(/Hello/);
  });

  it("is given for a render that throws, with the thrown error", async () => {
    const message = await messageOf(() => {
      throw new TypeError("no such field");
    });
    expect(message).toContain("no such field");
  });

  it("names a component that is asynchronous", async () => {
    const Slow = async () => <Task id="t">{1}</Task>;
    const message = await messageOf(() => (
      <Workflow name="w">
        <Slow />
      </Workflow>
    ));
    expect(message).toMatch(/<Slow>.*(async|promise)/i);
  });

  it("is given for a render that is asynchronous", async () => {
    const message = await messageOf((async () => <Workflow name="w" />) as never);
    expect(message).toMatch(/async|promise/i);
  });

  it("is given for something that is not a schema, with its key", () => {
    expect(() => createSmithers({ wrong: { type: "object" } as unknown as z.ZodType })).toThrow(/"wrong"/);
  });

  it("is given for something that is not a workflow", async () => {
    await expect(runWorkflow((() => 1) as never)).rejects.toThrow(/what workflow\(\) returned/);
  });
});
