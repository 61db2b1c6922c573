/** The cost of one call: against the two bare journals at the same commit level, and in the AI SDK's loop. */
import { generateText, isStepCount } from "ai";
import { join } from "node:path";
import { createRuntime, defineTool } from "toolwright";
import { createScriptedModel } from "toolwright/testing";
import { z } from "zod";
import { openBareJournal, openLeanJournal } from "./bare-journal.ts";
import { compare, inFolder } from "./measure.ts";
import type { Row } from "./bench.ts";

const schema = z.object({ sku: z.string(), quantity: z.number() });
const input = (index: number): { sku: string; quantity: number } => ({
  sku: `apple ${index}`,
  quantity: index,
});
const output = (sku: string): { id: number; sku: string } => ({ id: 1, sku });

const pure = defineTool({ name: "pure", schema, execute: async ({ sku }) => output(sku) });
const idempotent = defineTool({
  name: "idempotent",
  schema,
  sideEffect: true,
  idempotent: true,
  execute: async ({ sku }) => output(sku),
});
/** Most tools return more than a few words. */
const long = "x".repeat(1_500);
const wordy = defineTool({
  name: "wordy",
  schema,
  sideEffect: true,
  idempotent: true,
  execute: async () => output(long),
});
const unrepeatable = defineTool({
  name: "unrepeatable",
  schema,
  sideEffect: true,
  idempotent: false,
  execute: async ({ sku }, ctx) => ({ ...output(sku), key: ctx.idempotencyKey }),
});

export function benchPerCall(): Promise<Row[]> {
  return inFolder(async (folder) => {
    const normal = openBareJournal(join(folder, "normal.db"), false);
    const full = openBareJournal(join(folder, "full.db"), true);
    const lean = openLeanJournal(join(folder, "lean.db"), false);
    const leanFull = openLeanJournal(join(folder, "lean-full.db"), true);
    const leanLong = openLeanJournal(join(folder, "lean-long.db"), false);
    const runtimes = ["pure", "idempotent", "unrepeatable", "wide", "wordy"].map((name) =>
      createRuntime({ store: join(folder, `${name}.db`) }),
    );
    const [forPure, forIdempotent, forUnrepeatable, forWide, forWordy] = runtimes as [
      Runtime,
      Runtime,
      Runtime,
      Runtime,
      Runtime,
    ];
    const times = await compare(
      [
        {
          name: "bare",
          round: (from, count) =>
            repeat(from, count, (index) => normal.call(input(index), () => output("x"))),
        },
        {
          name: "bare full",
          round: (from, count) => repeat(from, count, (index) => full.call(input(index), () => output("x"))),
        },
        {
          name: "lean",
          round: (from, count) => repeat(from, count, (index) => lean.call(input(index), () => output("x"))),
        },
        {
          name: "lean full",
          round: (from, count) =>
            repeat(from, count, (index) => leanFull.call(input(index), () => output("x"))),
        },
        {
          name: "lean long",
          round: (from, count) =>
            repeat(from, count, (index) => leanLong.call(input(index), () => output(long))),
        },
        one("pure", forPure, pure),
        one("idempotent", forIdempotent, idempotent),
        one("unrepeatable", forUnrepeatable, unrepeatable),
        wide("wide", forWide, idempotent),
        one("wordy", forWordy, wordy),
      ],
      // A round is long enough for its share of checkpoints: there is one in about 1,300 calls.
      { rounds: 12, count: 2_560 },
    );
    for (const runtime of runtimes) await runtime[Symbol.asyncDispose]();
    for (const journal of [normal, full, lean, leanFull, leanLong]) journal.close();
    const us = (name: string): number => times.get(name) ?? Number.NaN;
    return [
      row("bare journal, NORMAL", us("bare"), us("bare")),
      row("pure call", us("pure"), us("bare"), 1.5),
      row("idempotent side effect", us("idempotent"), us("bare"), 1.5),
      row("64 parallel calls, each", us("wide"), us("bare"), 1.5),
      row("bare journal, intent FULL", us("bare full"), us("bare full")),
      row("non-idempotent side effect", us("unrepeatable"), us("bare full"), 1.5),
      row("lean journal, NORMAL", us("lean"), us("lean")),
      row("pure call, against the lean journal", us("pure"), us("lean"), 2),
      row("idempotent side effect, against the lean journal", us("idempotent"), us("lean"), 2),
      row("lean journal, outputs of 1.5 kB", us("lean long"), us("lean long")),
      row("idempotent side effect, outputs of 1.5 kB", us("wordy"), us("lean long"), 2),
      row("lean journal, intent FULL", us("lean full"), us("lean full")),
      row("non-idempotent side effect, against the lean journal", us("unrepeatable"), us("lean full"), 2),
    ];
  });
}

/** A turn with many calls, in the AI SDK's own loop, with and without logging. */
export function benchAiSdk(): Promise<Row[]> {
  return inFolder(async (folder) => {
    const runtime = createRuntime({ store: join(folder, "sdk.db") });
    const plain = {
      description: "pure",
      inputSchema: schema,
      execute: async (args: { sku: string }) => output(args.sku),
    };
    const turn = async (tool: typeof plain | typeof pure, from: number, count: number): Promise<void> => {
      const calls = Array.from({ length: count }, (_, index) => ({
        toolName: "pure",
        input: input(from + index),
      }));
      const model = createScriptedModel([calls, "done"]);
      await generateText({ model, tools: { pure: tool }, prompt: "go", stopWhen: isStepCount(3) });
    };
    const times = await compare(
      [
        { name: "plain", round: (from, count) => turn(plain, from, count) },
        {
          name: "ours",
          round: (from, count) => runtime.run({ runId: `run ${from}` }, () => turn(pure, from, count)),
        },
      ],
      { rounds: 16, count: 64 },
    );
    await runtime[Symbol.asyncDispose]();
    const us = (name: string): number => times.get(name) ?? Number.NaN;
    return [
      row("AI SDK loop, 64 calls a turn, no record", us("plain"), us("plain")),
      row("AI SDK loop, 64 calls a turn, logged", us("ours"), us("plain")),
    ];
  });
}

type Runtime = ReturnType<typeof createRuntime>;

function one(name: string, runtime: Runtime, tool: typeof pure) {
  return {
    name,
    round: async (from: number, count: number) => {
      for (let index = 0; index < count; index += 1) {
        await runtime.call(tool, input(from + index), { runId: `bench ${from}` });
      }
    },
  };
}

function wide(name: string, runtime: Runtime, tool: typeof pure) {
  return {
    name,
    round: async (from: number, count: number) => {
      for (let index = 0; index < count; index += 64) {
        const calls = Array.from({ length: 64 }, (_, offset) =>
          runtime.call(tool, input(from + index + offset), { runId: `bench ${from}` }),
        );
        await Promise.all(calls);
      }
    },
  };
}

function repeat(from: number, count: number, work: (index: number) => void): void {
  for (let index = 0; index < count; index += 1) work(from + index);
}

function row(what: string, us: number, base: number, target?: number): Row {
  return { what, value: us, unit: "µs", ratio: us / base, ...(target === undefined ? {} : { target }) };
}
