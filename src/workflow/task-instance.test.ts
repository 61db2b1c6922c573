/** When a task is over, and which pass of a dependency it sees. */
import { describe, expect, test } from "vitest";
import type { TaskProps } from "./components.ts";
import { attemptsOf, dependencyState, instanceName, isOver } from "./task-instance.ts";
import { type TaskState, TaskStates } from "./task-state.ts";

const state = (nodeId: string, path: string, more: Partial<TaskState> = {}): TaskState => ({
  nodeId,
  path,
  iteration: 0,
  attempt: 1,
  status: "finished",
  outputKey: null,
  output: path,
  error: undefined,
  prompt: undefined,
  ...more,
});
const props = (more: Partial<TaskProps> = {}): TaskProps => ({ id: "a", ...more });

test("a task is tried three times by default", () => {
  expect([attemptsOf(props()), attemptsOf(props({ retries: 0 }))]).toEqual([3, 1]);
});

test.each<[string, Partial<TaskProps>, TaskState | undefined, boolean]>([
  ["not started", {}, undefined, false],
  ["finished", {}, state("a", ""), true],
  ["skipped", {}, state("a", "", { status: "skipped" }), true],
  ["waiting", {}, state("a", "", { status: "waiting" }), false],
  ["failed", {}, state("a", "", { status: "failed", attempt: 3 }), false],
  [
    "failed, continueOnFail",
    { continueOnFail: true },
    state("a", "", { status: "failed", attempt: 3 }),
    true,
  ],
  ["failed, may retry", { continueOnFail: true }, state("a", "", { status: "failed", attempt: 2 }), false],
])("isOver: %s", (_name, more, found, expected) => {
  expect(isOver(props(more), found)).toBe(expected);
});

describe("a dependency", () => {
  const states = new TaskStates([state("a", ""), state("b", "0"), state("b", "1"), state("c", "1.0")]);

  test.each<[string, readonly number[], string | undefined]>([
    ["a", [1, 0], ""],
    ["b", [0], "0"],
    ["b", [1, 0], "1"],
    ["b", [], "1"],
    ["d", [], undefined],
  ])("%s, seen from pass [%s], is of pass %s", (id, loop, path) => {
    expect(dependencyState(states, id, loop)?.path).toBe(path);
  });
});

test("passes of one task have different names", () => {
  const names = [
    instanceName("a", []),
    instanceName("a", [1]),
    instanceName("a", [1, 1]),
    instanceName("a", [11]),
  ];
  expect(new Set(names).size).toBe(4);
});

describe("the states of a run", () => {
  test("a finished state replaces the previous one, and is listed under its output", () => {
    const states = new TaskStates([state("a", "", { status: "started" as never, outputKey: "out" })]);
    expect([states.ofKey("out"), states.last]).toEqual([[], undefined]);
    const finished = state("a", "", { outputKey: "out" });
    states.set(finished);
    expect([states.ofKey("out"), states.ofNode("a"), states.last]).toEqual([
      [finished],
      [finished],
      finished,
    ]);
  });
});
