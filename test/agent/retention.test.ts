/** Rule 30 for agents: their stored data is deleted with their run. */
import { createRuntime, defineTool } from "toolwright";
import { createFakeClock } from "toolwright/testing";
import { expect, test } from "vitest";
import { z } from "zod";
import { createStorePath, rowsOf } from "../workflow/harness.ts";
import { ask, call, createAgent, createWorld, user } from "./harness.ts";

test("a run of several invokes is deleted with the budgets and caches of each", async () => {
  const store = createStorePath();
  const clock = createFakeClock();
  await using runtime = createRuntime({ store, clock });
  const look = defineTool({ name: "look", schema: z.object({}), cache: true, execute: () => "seen" });
  const { agent } = await createAgent(
    await createWorld(),
    [[call("look", {})], "First.", [call("look", {})], "Second."],
    { runtime, tools: [look], limits: { maxToolCalls: 3 } },
  );
  const { state } = await agent.invoke(ask("Look.", "r"));
  await agent.invoke({ ...state, messages: [...state.messages, user("Look again.")] });
  const tables = ["usage", "cache", "turns", "calls", "scopes", "responses"];
  const counts = async (): Promise<number[]> => {
    const found = tables.map((table) => rowsOf(store, `SELECT 1 AS one FROM toolwright_${table}`));
    return (await Promise.all(found)).map((rows) => rows.length);
  };
  expect((await counts())[0]).toBeGreaterThan(1);
  await clock.advance(31 * 86_400_000);
  expect(await runtime.gc()).toMatchObject({ deletedRuns: 1 });
  expect(await counts()).toEqual(tables.map(() => 0));
  await expect(agent.invoke(ask("Look.", "r"))).rejects.toMatchObject({ code: "TOOL_RUN_DELETED" });
});
