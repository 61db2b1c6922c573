/** Messages and turns that come at the same time: one is answered, the others are refused, and the run does not fail. */
import { ToolLoopAgent } from "ai";
import { createRuntime } from "toolwright";
import { createChatHandler } from "toolwright/ai-sdk";
import { expect, test } from "vitest";
import { runTurn } from "../../src/loop/run-turn.ts";
import { useRuntime } from "../../src/runtime/create-runtime.ts";
import { openStore } from "../../src/store/open-store.ts";
import type { Store } from "../../src/store/store.ts";
import { watchStore } from "../semantics/harness.ts";
import { createStorePath, rowsOf } from "../workflow/harness.ts";
import { createClient, listen, messageOf, textOf, userMessage } from "./chat-server.ts";
import { createLiveModel } from "./live-model.ts";

const stateOf = async (store: string) =>
  rowsOf(store, "SELECT state, error_json FROM toolwright_runs WHERE id = 'c'");

test("a turn that is refused because another one runs does not fail the run", async () => {
  const store = createStorePath();
  await using runtime = createRuntime({ store });
  await using other = createRuntime({ store });
  const go = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const turn = (by: typeof runtime, input: string, work: () => Promise<void>): Promise<void> =>
    useRuntime(by, (opened) =>
      runTurn<void>(
        opened,
        { runId: "c", kind: "ui-chat", name: "chat", inputHash: input, began: input, follows: () => true },
        async (turned) => {
          await work();
          turned.end("answered");
        },
        () => undefined,
      ),
    );
  const first = turn(runtime, "one", async () => {
    begun.resolve();
    await go.promise;
  });
  await begun.promise;
  // Neither the process that runs it, nor another one.
  for (const by of [runtime, other])
    await expect(turn(by, "two", () => Promise.resolve())).rejects.toMatchObject({
      code: "TOOL_RUN_CONFLICT",
    });
  expect(await stateOf(store)).toEqual([{ state: "running", error_json: null }]);
  go.resolve();
  await first;
  expect(await stateOf(store)).toEqual([{ state: "finished", error_json: null }]);
  await turn(other, "two", () => Promise.resolve());
  expect(await stateOf(store)).toEqual([{ state: "finished", error_json: null }]);
});

test("of two new messages at the same time, one is answered and the other is 409", async () => {
  const store = createStorePath();
  const live = createLiveModel();
  await using runtime = createRuntime({ store });
  await using other = createRuntime({ store });
  const agent = new ToolLoopAgent({ model: live.model });
  const authorize = () => ({ name: "ann" });
  const apis = await Promise.all(
    [runtime, other].map((one) => listen(createChatHandler({ runtime: one, agent, authorize }))),
  );
  const sent = apis.map(async (api, index) => {
    try {
      return textOf(await messageOf(await createClient(api).send([userMessage("Hi", `u${index}`)])));
    } catch (error) {
      return String(error);
    }
  });
  const request = await live.next();
  // One of them answers immediately: the other one waits for the model.
  expect(await Promise.race(sent)).toMatch(/CHAT_BUSY|TOOL_RUN_CONFLICT/);
  request.say("Hello");
  request.send({ type: "text-end", id: "t" });
  request.finish();
  expect(await Promise.all(sent)).toContain("Hello");
  expect(live.requests).toBe(1);
  expect(await stateOf(store)).toEqual([{ state: "finished", error_json: null }]);
});

test("a message whose turn another server ends first is answered with the stored answer", async () => {
  const store = createStorePath();
  const live = createLiveModel();
  const agent = new ToolLoopAgent({ model: live.model });
  const authorize = () => ({ name: "ann" });
  const opened = await openStore(store);
  let isArmed = false;
  const arrived = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  // The second server has read the turn as failed, and takes it later.
  const slow: Store = {
    ...watchStore(opened, {}),
    async transaction(work, level) {
      if (isArmed) {
        arrived.resolve();
        await go.promise;
      }
      return opened.transaction(work, level);
    },
  };
  await using runtime = createRuntime({ store });
  await using other = createRuntime({ store: slow });
  const [first, second] = await Promise.all(
    [runtime, other].map(async (one) =>
      createClient(await listen(createChatHandler({ runtime: one, agent, authorize }))),
    ),
  );
  await other.ready();
  const broken = messageOf((await first?.send([userMessage("Hi")])) ?? null);
  (await live.next()).breakOff(new Error("connection reset"));
  await expect(broken).rejects.toThrow(/failed/);
  isArmed = true;
  const late = second?.send([userMessage("Hi")]);
  await arrived.promise;
  const answer = messageOf((await first?.send([userMessage("Hi")])) ?? null);
  const request = await live.next();
  request.say("Hello");
  request.send({ type: "text-end", id: "t" });
  request.finish();
  expect(textOf(await answer)).toBe("Hello");
  isArmed = false;
  go.resolve();
  expect(textOf(await messageOf((await late) ?? null))).toBe("Hello");
  expect(live.requests).toBe(2);
}, 20_000);
