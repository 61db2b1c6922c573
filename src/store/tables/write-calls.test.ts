import { expect, test } from "vitest";
import type { Statement } from "../statement.ts";
import type { Transaction } from "../store.ts";
import { CALL_END, CALL_START, type CallStart } from "./calls.ts";
import { finishCall, insertCall, insertStarted, isCallEnd, isCallStart } from "./write-calls.ts";

const CALL: CallStart = {
  ...CALL_START.defaults,
  scopeId: 1,
  seq: 1,
  key: "key-1",
  toolName: "order",
  unrepeatable: true,
  startedAtMs: 1,
  ownerId: "owner-1",
};
const WRITER = { rootScopeId: 1, epoch: 3, attempt: 2 };

function statementOf(transaction: Transaction<number>): Statement {
  return transaction.next().value as Statement;
}

test("the intent of a call in a task starts the call and does not end it", () => {
  const intent = insertStarted(CALL, WRITER);
  expect([isCallStart(intent), isCallEnd(intent)]).toEqual([true, false]);
});

test("only a row of a call that ran ends it", () => {
  const at = { scopeId: 1, key: "key-1", attempt: 2, ownerId: "owner-1" };
  const end = { ...CALL_END.defaults, status: "success" } as const;
  const pending = statementOf(insertCall({ ...CALL, status: "pending" }, WRITER));
  const pure = statementOf(insertCall({ ...CALL, status: "success", tries: 1 }, WRITER));
  expect([
    finishCall(at, end),
    statementOf(insertCall({ ...CALL, status: "success", tries: 2 }, WRITER)),
  ]).toSatisfy((statements: Statement[]) => statements.every(isCallEnd));
  expect([isCallEnd(pending), isCallEnd(pure), isCallStart(pure)]).toEqual([false, true, false]);
});
