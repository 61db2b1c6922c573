/**
 * Rule 20 in a loop that resumes from its messages: the SDK runs an approved call at once, and tells the model if it is in doubt
 * whether the call happened. The next equal call of the model continues that call.
 */
import { generateText, isStepCount, type ModelMessage } from "ai";
import { defineTool, type Runtime } from "toolwright";
import { createScriptedModel, type ScriptedTurn } from "toolwright/testing";
import { expect, it } from "vitest";
import { z } from "zod";
import { createWorld, never, until, type World } from "../semantics/harness.ts";

function createPay() {
  const paid: number[] = [];
  let isHanging = true;
  const pay = defineTool({
    name: "pay",
    schema: z.object({ amount: z.number() }),
    outputSchema: z.string(),
    sideEffect: true,
    acceptsIdempotencyKey: false,
    needsApproval: true,
    execute: async ({ amount }) => {
      paid.push(amount);
      return isHanging ? never<string>() : `receipt ${paid.length}`;
    },
  });
  const recover = (): void => {
    isHanging = false;
  };
  return { pay, paid, recover };
}

type Pay = ReturnType<typeof createPay>["pay"];

const begin: ModelMessage[] = [{ role: "user", content: "Pay." }];
const call = (toolCallId: string) => [{ toolName: "pay", input: { amount: 5 }, toolCallId }];

function ask(runtime: Runtime, pay: Pay, turns: readonly ScriptedTurn[], messages: ModelMessage[]) {
  const model = createScriptedModel([({ turn }) => turns[turn] as never], { atEnd: "repeat-last" });
  return runtime.run({ runId: "r" }, () =>
    generateText({ model, tools: { pay }, messages, stopWhen: isStepCount(8) }),
  );
}

/** Approves the first call in the messages, and dies in it. */
async function dieInApprovedCall(world: World, { pay, paid, recover }: ReturnType<typeof createPay>) {
  const runtime = await world.runtime();
  const said = await ask(runtime, pay, [call("c0")], begin);
  const [request] = await runtime.approvals({ status: "pending" });
  await runtime.resolveToolApproval(request?.id ?? "", { approved: true });
  const asked = said.content.find((part) => part.type === "tool-approval-request");
  const messages: ModelMessage[] = [
    ...begin,
    ...said.responseMessages,
    {
      role: "tool",
      content: [{ type: "tool-approval-response", approvalId: asked?.approvalId ?? "", approved: true }],
    },
  ];
  void ask(runtime, pay, [call("c0"), "done"], messages).catch(() => undefined);
  await until(() => paid.length === 1);
  await world.killAll();
  recover();
  return messages;
}

const textOf = (messages: readonly ModelMessage[]): string => JSON.stringify(messages);

it("rule 20: a call that the model repeats after an answer about it gets that answer", async () => {
  const world = await createWorld();
  const shop = createPay();
  const messages = await dieInApprovedCall(world, shop);
  const runtime = await world.runtime();
  const first = await ask(runtime, shop.pay, [call("c0"), "Please decide."], messages);
  expect(textOf(first.responseMessages)).toContain("approval_pending");
  const [question, ...others] = await runtime.approvals({ status: "pending" });
  expect(others).toEqual([]);
  await runtime.resolveToolApproval(question?.id ?? "", { resolution: "happened", output: "receipt 1" });
  // The model repeats the call, in another process.
  await world.killAll();
  const turns = [call("c0"), call("c1"), "done"];
  const told = first.responseMessages.filter(({ role }) => role === "tool");
  const again = await ask(await world.runtime(), shop.pay, turns, [...messages, ...told]);
  expect(textOf(again.responseMessages)).toContain("receipt 1");
  expect(await (await world.runtime()).approvals({ status: "pending" })).toEqual([]);
  expect(shop.paid).toEqual([5]);
});

it("rule 20: of two equal calls in the next response, one continues the call that waits, and one is another call", async () => {
  const world = await createWorld();
  const shop = createPay();
  const messages = await dieInApprovedCall(world, shop);
  const runtime = await world.runtime();
  const first = await ask(runtime, shop.pay, [call("c0"), "Please decide."], messages);
  const [question] = await runtime.approvals({ status: "pending" });
  await runtime.resolveToolApproval(question?.id ?? "", { resolution: "happened", output: "receipt 1" });
  const told = first.responseMessages.filter(({ role }) => role === "tool");
  const turns = [call("c0"), [...call("c1"), ...call("c2")], "done"];
  const again = await ask(runtime, shop.pay, turns, [...messages, ...told]);
  expect(textOf(again.responseMessages)).toContain("receipt 1");
  const requests = await runtime.approvals({ status: "pending" });
  expect(requests).toMatchObject([{ kind: "call", args: { amount: 5 } }]);
  expect(shop.paid).toEqual([5]);
});
