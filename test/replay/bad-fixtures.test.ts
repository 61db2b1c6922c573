/** Fixtures that prove nothing are refused, with what is wrong and what to do. */
import { createRuntime, defineTool } from "toolwright";
import { type Fixture, recordRun, replayRun } from "toolwright/testing";
import { beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { toFixtureText } from "../../src/operate/fixtures/write-fixture.ts";

const LONG = "a long text ".repeat(200);

const say = defineTool({
  name: "say",
  schema: z.object({ text: z.string() }),
  execute: ({ text }) => ({ text, rows: Array.from({ length: 2_000 }, (_, index) => `row ${index}`) }),
});

let fixture: Fixture;
beforeAll(async () => {
  await using runtime = createRuntime({ store: ":memory:", recording: "keep" });
  await runtime.call(say, { text: LONG }, { runId: "r" });
  fixture = await recordRun(runtime, "r");
});

const program = ({ runtime }: { readonly runtime: ReturnType<typeof createRuntime> }): unknown =>
  runtime.call(say, { text: LONG }, { runId: "r" });

test("long texts and large outputs stand at the end, by hash", async () => {
  const { bodies, calls } = fixture;
  expect(Object.keys(bodies)).toHaveLength(2);
  expect(calls[0]).toMatchObject({
    input: { text: { $text: expect.stringMatching(/^[0-9a-f]{64}$/) } },
    output: { $json: expect.stringMatching(/^[0-9a-f]{64}$/) },
  });
  const { diff } = await replayRun(toFixtureText(fixture), { agent: program });
  expect(diff).toEqual([]);
});

test.each<[string, (text: string) => unknown, string]>([
  ["cut in half", (text) => text.slice(0, text.length / 2), "ends too early"],
  ["empty", () => "{", "ends too early"],
  ["edited", (text) => text.replace('"tool": "say"', '"tool": "shout"'), "was edited after it was recorded"],
  ["without a part", (text) => ({ ...(JSON.parse(text) as object), calls: undefined }), "is damaged: calls"],
  ["newer", (text) => text.replace('"version": 1', '"version": 2'), "has version 2"],
  ["something else", () => ({ name: "package" }), "is not a Toolwright fixture"],
  ["a missing file", () => "nowhere.fixture.json", "cannot be read"],
])("a fixture that is %s", async (_what, change, message) => {
  await expect(replayRun(change(toFixtureText(fixture)) as object, { agent: program })).rejects.toMatchObject(
    {
      code: "TOOL_FIXTURE_INVALID",
      message: expect.stringContaining(message),
    },
  );
});

test("white space does not count", async () => {
  const { diff } = await replayRun(JSON.stringify(fixture), { agent: program });
  expect(diff).toEqual([]);
});

test("options that do not fit are refused by name", async () => {
  await expect(replayRun(fixture, { agents: program } as never)).rejects.toThrow(/agents/);
  await expect(replayRun(fixture, {})).rejects.toThrow(
    /Option agent is missing: run "r" is of kind "program"/,
  );
  await expect(replayRun(fixture, { workflow: {} })).rejects.toThrow(
    /Option workflow is for runs of workflows/,
  );
  await expect(replayRun(fixture, { agent: {} })).rejects.toThrow(
    /Option agent must be an AI SDK agent, a smart agent, or a function/,
  );
});
