/** An invoke may be handed a long conversation: it is stored once, and only what is new is stored by the next invoke. */
import { expect, test } from "vitest";
import { createRuntime, createSmartAgent, createTool, type AgentMessage } from "toolwright";
import { createScriptedModel, recordRun, replayRun } from "toolwright/testing";
import { createWorld, watchStore } from "../semantics/harness.ts";
import { z } from "zod";
import { call, user } from "./harness.ts";

const HANDED: readonly AgentMessage[] = Array.from({ length: 1_001 }, (_, index) => ({
  role: index % 2 === 0 ? ("user" as const) : ("assistant" as const),
  content: `Message ${index}.`,
}));

const copy = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

test("an input is written once, no later invoke reads it, and a resume has all of it", async () => {
  const world = await createWorld();
  const statements: string[] = [];
  const onStatement = (sql: string): void => void statements.push(sql);
  const store = watchStore(await world.open(), { onStatement, onReadStatement: onStatement });
  await using runtime = createRuntime({ store });
  const model = createScriptedModel(["One.", "Two.", new Error("power cut")]);
  const agent = createSmartAgent({ model, runtime });

  const one = await agent.invoke({ messages: HANDED, runId: "r" });
  const two = await agent.invoke({ ...copy(one.state), messages: [...copy(one.messages), user("More.")] });
  expect(two.content).toBe("Two.");
  const ofInputs = statements.filter((sql) => sql.includes("toolwright_turn_inputs"));
  expect(ofInputs.map((sql) => sql.slice(0, 6))).toEqual(["INSERT"]);
  const lengths = await world.rows(
    "SELECT LENGTH(began_json) AS length FROM toolwright_turn_inputs UNION ALL SELECT LENGTH(began_json) FROM toolwright_turns ORDER BY 1",
  );
  expect(lengths.map(({ length }) => Number(length) > 1_000)).toEqual([false, false, true]);

  const three = [...copy(two.messages), user("Once more.")];
  await expect(agent.invoke({ ...copy(two.state), messages: three })).rejects.toThrow("power cut");
  const other = createScriptedModel(["Three."]);
  const resumed = await createSmartAgent({ model: other, runtime }).invoke({ runId: "r" });
  expect(resumed.content).toBe("Three.");
  expect(resumed.messages.slice(0, -1)).toEqual(three);
});

test("an invoke without a state reads the calls of all earlier turns with one statement", async () => {
  const world = await createWorld();
  let reads = 0;
  const store = watchStore(await world.open(), { onReadStatement: () => (reads += 1) });
  await using runtime = createRuntime({ store });
  const look = createTool({ name: "look", schema: z.object({}), func: () => "seen" });
  const script = [[call("look", {})], "Done."];
  const model = createScriptedModel(Array.from({ length: 8 }, () => script).flat());
  const agent = createSmartAgent({ model, tools: [look], runtime });
  let messages: AgentMessage[] = [];
  const counts: number[] = [];
  for (let turn = 1; turn <= 8; turn += 1) {
    reads = 0;
    const result = await agent.invoke({ runId: "r", messages: [...messages, user("Look.")] });
    counts.push(reads);
    expect(result.state.toolHistory.map(({ args, output }) => [args, output])).toEqual(
      Array.from({ length: turn }, () => [{}, "seen"]),
    );
    messages = copy(result.messages);
  }
  expect(counts.at(-1)).toBe(counts[2]);
});

test("an input of any number of messages can be replayed", async () => {
  await using runtime = createRuntime({ store: await (await createWorld()).open() });
  const agent = createSmartAgent({ model: createScriptedModel([new Error("power cut")]), runtime });
  const messages = Array.from({ length: 130_000 }, () => user("Hm."));
  await expect(agent.invoke({ messages, runId: "r" })).rejects.toThrow("power cut");
  const replayed = await replayRun(await recordRun(runtime, "r"), { agent });
  expect(replayed).toMatchObject({ same: true, diff: [] });
});
