/** Rule 36: every reader reports a call whose owner is dead as unknown. The SQL view shows what is stored. */
import { defineTool, type Runtime } from "toolwright";
import { expect, test } from "vitest";
import { z } from "zod";
import { findCallText, listCallTexts } from "../../src/agent/tools/call-text.ts";
import { createWorld, never, until } from "./harness.ts";

const task = { runId: "r" };

/** A call that is running, and one that has ended. */
async function begin(runtime: Runtime) {
  let isAtWork = false;
  const hang = defineTool({
    name: "hang",
    schema: z.object({}),
    sideEffect: true,
    idempotent: false,
    execute: (_args, ctx) => {
      isAtWork = ctx.idempotencyKey !== "";
      return never<string>();
    },
  });
  const done = defineTool({ name: "done", schema: z.object({}), execute: async () => "done" });
  await runtime.call(done, {}, task);
  void runtime.call(hang, {}, task).catch(() => undefined);
  await until(() => isAtWork);
}

test("rule 36: runtime.calls shows a call as started while its owner is alive, and as unknown when it is dead", async () => {
  const world = await createWorld();
  await begin(await world.runtime());
  await using reader = await world.runtime();
  const statuses = async (filter = {}) =>
    (await reader.calls({ ...task, ...filter }))
      .map(({ toolName, status }) => `${toolName} ${status}`)
      .toSorted();
  expect(await statuses()).toEqual(["done success", "hang started"]);
  await world.killAll();
  expect(await statuses()).toEqual(["done success", "hang unknown"]);
  expect(await statuses({ status: "unknown" })).toEqual(["hang unknown"]);
  expect(await statuses({ status: "started" })).toEqual([]);
  expect(await statuses({ status: "unknown", limit: 1 })).toEqual(["hang unknown"]);
  expect(await statuses({ status: "success" })).toEqual(["done success"]);
  expect((await world.log("r")).map((row) => `${row["tool_name"]} ${row["status"]}`).toSorted()).toEqual([
    "done success",
    "hang started",
  ]);
});

test("rule 36: get_tool_response shows a call whose owner is dead as unknown", async () => {
  const world = await createWorld();
  await begin(await world.runtime());
  await world.killAll();
  await using reader = await world.runtime();
  const [hanging] = await reader.calls({ status: "unknown" });
  const source = {
    store: await world.open(),
    isOwnerAlive: () => Promise.resolve(false),
    runIds: ["r"],
    here: { nodeId: "main", parentKey: "" },
  };
  const found = await findCallText(source, { executionId: hanging?.key }, "input");
  expect(found).toMatchObject({ status: "unknown", text: "{}" });
  expect((await listCallTexts(source)).text).toContain('"toolName":"hang","status":"unknown"');
});
