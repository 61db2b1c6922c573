/** Functions of a tool other than `execute` that never settle: the call still ends, and fails closed. */
import { expect, it } from "vitest";
import { createWorld, never } from "./harness.ts";
import { createCharge, harmless } from "./tools.ts";

const task = { runId: "r1" };
const args = { amount: 7 };

it("a needsApproval that does not settle within the timeout means yes", async () => {
  const runtime = await (await createWorld()).runtime();
  const { charge, effects } = createCharge({ timeoutMs: 20, needsApproval: () => never<boolean>() });
  expect(await runtime.call(charge, args, task)).toMatchObject({ status: "pending" });
  expect(effects).toEqual([]);
});

it("an approvalPrompt that does not settle within the timeout is omitted", async () => {
  const runtime = await (await createWorld()).runtime();
  const approvalPrompt = () => never<string>();
  const { charge } = createCharge({ timeoutMs: 20, needsApproval: true, approvalPrompt });
  expect(await runtime.call(charge, args, task)).toMatchObject({
    status: "pending",
    approval: { prompt: expect.stringContaining("May") },
  });
});

it("a shouldRetry that does not settle within the timeout means no", async () => {
  const runtime = await (await createWorld()).runtime();
  const retry = { maxRetries: 1, backoffMs: 0, shouldRetry: () => never<boolean>() };
  const { charge, effects } = createCharge({ timeoutMs: 20, retry }, () => {
    throw harmless("not now");
  });
  expect(await runtime.call(charge, args, task)).toMatchObject({ error: { message: "not now" } });
  expect(effects).toHaveLength(1);
});

it("an abort ends the wait for needsApproval, and no approval is requested", async () => {
  const runtime = await (await createWorld()).runtime();
  const abort = new AbortController();
  const needsApproval = () => {
    abort.abort();
    return never<boolean>();
  };
  const { charge, effects } = createCharge({ needsApproval });
  expect(await runtime.call(charge, args, { ...task, signal: abort.signal })).toMatchObject({
    error: { code: "TOOL_ABORTED" },
  });
  expect(await runtime.approvals()).toEqual([]);
  expect(effects).toEqual([]);
});
