/** @jsxImportSource toolwright */
/** Trees as plans, and plans as outlines. */
import { describe, expect, test } from "vitest";
import { Branch, Loop, Parallel, Sequence, Task, Workflow } from "./components.ts";
import { createPlan, DEFAULT_MAX_ITERATIONS, dependenciesOf, outlineOf } from "./plan.ts";

const step = (id: string, more: object = {}) => (
  <Task id={id} {...more}>
    {() => undefined}
  </Task>
);

describe("an outline", () => {
  test("flattens sequences, and keeps sequences inside groups", () => {
    const { root } = createPlan(
      <Workflow name="w">
        {step("a")}
        <Sequence>{step("b")}</Sequence>
        <Parallel>
          {step("c")}
          <Sequence>
            {step("d")}
            {step("e")}
          </Sequence>
        </Parallel>
      </Workflow>,
    );
    expect(outlineOf(root)).toEqual([
      { kind: "task", id: "a" },
      { kind: "task", id: "b" },
      {
        kind: "parallel",
        children: [
          { kind: "task", id: "c" },
          {
            kind: "sequence",
            children: [
              { kind: "task", id: "d" },
              { kind: "task", id: "e" },
            ],
          },
        ],
      },
    ]);
  });

  test("contains only the branch that was taken", () => {
    const { root, tasks } = createPlan(
      <Workflow name="w">
        <Branch if={false} then={step("yes")} else={step("no")} />
      </Workflow>,
    );
    expect(outlineOf(root)).toEqual([{ kind: "task", id: "no" }]);
    expect([...tasks.keys()]).toEqual(["no"]);
  });
});

describe("a loop", () => {
  const loopOf = (props: object) => {
    const { root } = createPlan(
      <Workflow name="w">
        <Loop until={false} {...props}>
          {step("a")}
        </Loop>
      </Workflow>,
    );
    return root.kind === "sequence" ? root.children[0] : undefined;
  };

  test("without a limit has the default one, and fails at it", () => {
    expect(loopOf({})).toMatchObject({
      maxIterations: DEFAULT_MAX_ITERATIONS,
      isDefaultLimit: true,
      onMaxReached: "fail",
    });
  });

  test("with a limit returns its last pass", () => {
    expect(loopOf({ maxIterations: 3 })).toMatchObject({ maxIterations: 3, onMaxReached: "return-last" });
  });
});

describe("a tree is refused", () => {
  test.each<[string, () => unknown, RegExp]>([
    ["without a <Workflow> at the root", () => step("a"), /must be a <Workflow>/],
    ["if it is async", () => Promise.resolve(<Workflow name="w" />), /is async/],
    ["with one id twice", () => <Workflow name="w">{[step("a"), step("a")]}</Workflow>, /appears twice/],
    ["with text between tasks", () => <Workflow name="w">hello</Workflow>, /contains "hello"/],
    [
      "with a dependency that is not in it",
      () => <Workflow name="w">{step("a", { dependsOn: ["b"] })}</Workflow>,
      /depends on "b", which is not in the tree/,
    ],
  ])("%s", (_name, render, message) => {
    expect(() => createPlan(render())).toThrow(message);
  });
});

test("a task depends on the tasks that dependsOn and deps name", () => {
  expect(dependenciesOf({ id: "c", dependsOn: ["a"], deps: { b: true } } as never)).toEqual(["a", "b"]);
});
