/**
 * Rule 30: retention deletes the model responses of a run that has stopped. A program that resumes it would ask its model again,
 * and could repeat its effects in other words, so it is refused.
 */
import { generateText, isStepCount } from "ai";
import { defineTool, type Runtime } from "toolwright";
import { recordModel } from "toolwright/ai-sdk";
import { createFakeClock, createScriptedModel } from "toolwright/testing";
import { expect, it } from "vitest";
import { z } from "zod";
import { recordRun } from "../../src/operate/fixtures/record-run.ts";
import { createWorld } from "./harness.ts";

const DAY = 86_400_000;

function createSend() {
  const sent: string[] = [];
  const send = defineTool({
    name: "send",
    schema: z.object({ text: z.string() }),
    sideEffect: true,
    acceptsIdempotencyKey: true,
    execute: ({ text }) => sent.push(text),
  });
  return { send, sent };
}

/** A loop whose model sends this text. `asked` counts its requests. */
function createLoop(send: ReturnType<typeof createSend>["send"], text: string, last: string | Error) {
  const asked: number[] = [];
  const ask = (prompt = "Tell Ann."): Promise<unknown> => {
    const model = createScriptedModel(
      [
        ({ turn }) => {
          asked.push(turn);
          if (turn === 0) return [{ toolName: "send", input: { text } }];
          if (typeof last === "string") return last;
          throw last;
        },
      ],
      { atEnd: "repeat-last" },
    );
    return generateText({
      model: recordModel(model),
      tools: { send },
      prompt,
      stopWhen: isStepCount(5),
      maxRetries: 0,
    });
  };
  return { ask, asked };
}

const refused = { code: "TOOL_RUN_DELETED", message: expect.stringContaining("attempt 1") as string };

async function clear(runtime: Runtime): Promise<void> {
  expect(await runtime.gc()).toMatchObject({ clearedRuns: 1, deletedRuns: 0 });
  expect(await runtime.gc()).toMatchObject({ clearedRuns: 0 });
}

it("rule 30: a program whose responses retention has deleted asks for none of them again", async () => {
  const world = await createWorld();
  const clock = createFakeClock();
  const { send, sent } = createSend();
  const first = createLoop(send, "hello", new Error("overloaded"));
  const work = (await world.runtime({ clock })).run({ runId: "r" }, () => first.ask());
  await expect(work).rejects.toThrow("overloaded");
  await world.killAll();
  await clock.advance(8 * DAY);
  const runtime = await world.runtime({ clock });
  await clear(runtime);
  const later = createLoop(send, "good morning", "done");
  const resume = runtime.run({ runId: "r" }, async () => {
    // A program may try again.
    await expect(later.ask()).rejects.toMatchObject(refused);
    await later.ask();
  });
  await expect(resume).rejects.toMatchObject(refused);
  expect(later.asked).toEqual([]);
  expect(sent).toEqual(["hello"]);
});

it("a run whose responses retention has deleted cannot be recorded as a fixture, and its readers get no results without calls", async () => {
  const world = await createWorld();
  const clock = createFakeClock();
  const { send } = createSend();
  const runtime = await world.runtime({ clock });
  const { ask } = createLoop(send, "hello", new Error("overloaded"));
  await expect(runtime.run({ runId: "r" }, () => ask())).rejects.toThrow("overloaded");
  await clock.advance(8 * DAY);
  await clear(runtime);
  await expect(recordRun(await world.open(), "r")).rejects.toMatchObject({
    code: "TOOL_RUN_NOT_RECORDED",
    message: expect.stringContaining("Retention has deleted") as string,
  });
  const parts: string[] = [];
  for await (const { type } of runtime.stream("r")) parts.push(type);
  expect(parts).toEqual(["ended"]);
});

it("rule 30: another attempt asks the model again, and gets the recorded result of an equal call", async () => {
  const world = await createWorld();
  const clock = createFakeClock();
  const { send, sent } = createSend();
  const runtime = await world.runtime({ clock });
  const first = createLoop(send, "hello", new Error("overloaded"));
  await expect(runtime.run({ runId: "r" }, () => first.ask())).rejects.toThrow("overloaded");
  await clock.advance(8 * DAY);
  await clear(runtime);
  const later = createLoop(send, "hello", "done");
  await runtime.run({ runId: "r", attempt: 2 }, () => later.ask());
  expect(later.asked).toEqual([0, 1]);
  expect(sent).toEqual(["hello"]);
});

it("rule 30: a program that has finished and is repeated may still ask what it has not asked before", async () => {
  const world = await createWorld();
  const clock = createFakeClock();
  const { send, sent } = createSend();
  const runtime = await world.runtime({ clock });
  await runtime.run({ runId: "r" }, () => createLoop(send, "hello", "done").ask());
  await clock.advance(8 * DAY);
  await clear(runtime);
  const later = createLoop(send, "good morning", "done");
  await runtime.run({ runId: "r" }, async () => {
    await expect(later.ask()).rejects.toMatchObject(refused);
    expect(later.asked).toEqual([]);
    await later.ask("Tell Bob.");
  });
  expect(sent).toEqual(["hello", "good morning"]);
});
