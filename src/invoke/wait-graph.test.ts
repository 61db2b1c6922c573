/** Waits that form a cycle: the cheapest gives way. */
import { expect, test, vi } from "vitest";
import type { Call } from "./call.ts";
import { type Wait, WaitGraph } from "./wait-graph.ts";

const createCall = (key: string, caller?: Call): Call => ({ key, caller }) as unknown as Call;

function createWait(kind: Wait["kind"], waiter: Call, holders: readonly Call[]) {
  return { kind, waiter, holders: () => holders, giveWay: vi.fn() };
}

test("a wait for a call that waits for nothing begins", () => {
  const [one, other] = [createCall("one"), createCall("other")];
  const wait = createWait("slot", one, [other]);
  expect(new WaitGraph().wait(wait)).toBe(true);
  expect(wait.giveWay).not.toHaveBeenCalled();
});

test("the cheapest wait of a cycle gives way, not the last", () => {
  const graph = new WaitGraph();
  const [one, other] = [createCall("one"), createCall("other")];
  const cheap = createWait("result", one, [other]);
  const dear = createWait("budget", other, [one]);
  expect([graph.wait(cheap), graph.wait(dear)]).toEqual([true, true]);
  expect(cheap.giveWay).toHaveBeenCalledOnce();
  expect(dear.giveWay).not.toHaveBeenCalled();
});

test("a cycle in which no wait can give way is refused", () => {
  const graph = new WaitGraph();
  const [one, other] = [createCall("one"), createCall("other")];
  const waits: Wait[] = [
    { kind: "call", waiter: one, holders: () => [other] },
    { kind: "call", waiter: other, holders: () => [one] },
  ];
  expect(waits.map((wait) => graph.wait(wait))).toEqual([true, false]);
});

test("an enclosing call waits for everything that its inner calls wait for", () => {
  const graph = new WaitGraph();
  const [outer, other] = [createCall("outer"), createCall("other")];
  const inner = createCall("inner", outer);
  const ofOther = createWait("slot", other, [outer]);
  const ofInner = createWait("slot", inner, [other]);
  graph.wait(ofOther);
  expect(graph.wait(ofInner)).toBe(true);
  expect(ofOther.giveWay.mock.calls.length + ofInner.giveWay.mock.calls.length).toBe(1);
});

test("a wait for the own enclosing call gives way immediately", () => {
  const outer = createCall("outer");
  const wait = createWait("result", createCall("inner", outer), [outer]);
  expect(new WaitGraph().wait(wait)).toBe(true);
  expect(wait.giveWay).toHaveBeenCalledOnce();
});

test("a wait that ended is part of no cycle", () => {
  const graph = new WaitGraph();
  const [one, other] = [createCall("one"), createCall("other")];
  const ended = createWait("slot", one, [other]);
  graph.wait(ended);
  graph.end(ended);
  const wait = createWait("slot", other, [one]);
  expect(graph.wait(wait)).toBe(true);
  expect(wait.giveWay).not.toHaveBeenCalled();
});

test("calls in flight are found by their key until they are deleted", () => {
  const graph = new WaitGraph();
  const [one, other] = [createCall("same"), createCall("same")];
  graph.add(one);
  graph.add(other);
  graph.delete(one);
  expect(graph.withKey("same")).toEqual([other]);
});
