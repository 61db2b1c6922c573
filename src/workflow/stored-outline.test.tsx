/** @jsxImportSource toolwright */
import { createWorkflows } from "toolwright";
import { expect, test } from "vitest";
import type { Transaction } from "../store/store.ts";
import { createPlan, type PlanNode } from "./plan.ts";
import { StoredOutline } from "./stored-outline.ts";

const { Workflow, Saga, Task } = createWorkflows({});

function treeOf(...ids: string[]): PlanNode {
  const tasks = ids.map((id) => (
    <Task key={id} id={id}>
      {id}
    </Task>
  ));
  return createPlan(
    <Workflow name="w">
      <Saga id="s">{tasks}</Saga>
    </Workflow>,
  ).root;
}

/** Performs a transaction. Returns what it returned, and the texts that it wrote. */
function perform<T>(transaction: Transaction<T>): { readonly result: T; readonly wrote: string } {
  let wrote = "";
  let step = transaction.next();
  while (step.done !== true) {
    wrote += step.value.parameters.join(" ");
    step = transaction.next({ rows: [], changes: 1 });
  }
  return { result: step.value, wrote };
}

test("a tree that changes while an older one is committed is written with the next transaction", () => {
  const outline = new StoredOutline({});
  outline.note(treeOf("one"));
  const first = perform(outline.write("r", 1));
  outline.note(treeOf("one", "two"));
  outline.committed(first.result);
  const second = perform(outline.write("r", 1));
  // The tree, and the tasks of the saga.
  expect(second.wrote.match(/"two"/g)).toHaveLength(2);
  outline.committed(second.result);
  expect(perform(outline.write("r", 1)).wrote).toBe("");
});

test("a transaction that is repeated after an older one was committed writes its tree again", () => {
  const outline = new StoredOutline({});
  outline.note(treeOf("one"));
  const first = perform(outline.write("r", 1));
  outline.note(treeOf("one", "two"));
  perform(outline.write("r", 1));
  outline.committed(first.result);
  expect(perform(outline.write("r", 1)).wrote).toContain('"two"');
});

test("the latest tree is written again if an older commit ends after it", () => {
  const outline = new StoredOutline({});
  outline.note(treeOf("one"));
  const first = perform(outline.write("r", 1));
  outline.note(treeOf("one", "two"));
  const second = perform(outline.write("r", 1));
  outline.committed(second.result);
  outline.committed(first.result);
  expect(perform(outline.write("r", 1)).wrote).toContain('"two"');
});
