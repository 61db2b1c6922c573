/** The warning that a retried agent receives before its prompt. */
import { defineTool, type Runtime } from "toolwright";
import { toAISDKTools } from "toolwright/ai-sdk";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { change } from "../../src/store/statement.ts";
import { createWorld, never, until } from "./harness.ts";
import { createCharge, harmless } from "./tools.ts";

const task = { runId: "r1" };
const next = { ...task, attempt: 2 };

const send = defineTool({
  name: "send",
  schema: z.object({ to: z.string(), body: z.string().default("") }),
  sideEffect: true,
  idempotent: false,
  redact: { input: ["body"] },
  execute: ({ to }, ctx) => ({ sent: to, key: ctx.idempotencyKey === null }),
});

const PAY = { name: "pay.charge", schema: z.object({}), sideEffect: true, idempotent: false } as const;

function lines(warning: string): string[] {
  return warning.split("\n").filter((line) => line.startsWith("- "));
}

async function sendAll(runtime: Runtime, count: number, text = ""): Promise<void> {
  for (let index = 1; index <= count; index += 1)
    await runtime.call(send, { to: `user-${index}${text}` }, task);
}

describe("retryWarning", () => {
  it("lists calls with arguments, status and result, the newest last", async () => {
    const world = await createWorld();
    const runtime = await world.runtime();
    await sendAll(runtime, 3);
    const listed = lines(await runtime.retryWarning(next));
    expect(listed).toHaveLength(3);
    expect(listed.map((line) => /user-\d/.exec(line)?.[0])).toEqual(["user-1", "user-2", "user-3"]);
    expect(listed[0]).toMatch(/^- attempt 1: send\(\{"to":"user-1".*success -> .*"sent":"user-1"/);
  });

  it("is empty in the first attempt, for other tasks, and if there were no calls", async () => {
    const world = await createWorld();
    const runtime = await world.runtime();
    await sendAll(runtime, 1);
    expect(await runtime.retryWarning(task)).toBe("");
    expect(await runtime.retryWarning({ ...next, nodeId: "other" })).toBe("");
    expect(await runtime.retryWarning({ ...next, iteration: 1 })).toBe("");
    expect(await runtime.retryWarning({ ...next, runId: "r2" })).toBe("");
  });

  it("names only non-idempotent calls that may have happened", async () => {
    const world = await createWorld();
    const runtime = await world.runtime();
    const pure = defineTool({ name: "pure", schema: z.object({}), execute: () => 1 });
    const upsert = defineTool({
      name: "upsert",
      schema: z.object({}),
      sideEffect: true,
      idempotent: true,
      execute: () => 1,
    });
    const { charge: refused } = createCharge({}, () => {
      throw harmless("refused");
    });
    await runtime.call(pure, {}, task);
    await runtime.call(upsert, {}, task);
    await runtime.call(refused, { amount: 1 }, task);
    await runtime.call(createCharge({ maxExecutionsPerRun: 0 }).charge, { amount: 2 }, task);
    await runtime.call(createCharge({ needsApproval: true }).charge, { amount: 3 }, task);
    expect(await runtime.retryWarning(next)).toBe("");
  });

  it("describes an error and an interrupted call", async () => {
    const world = await createWorld();
    const first = await world.runtime();
    const { charge: failing } = createCharge({}, () => {
      throw new Error("socket closed");
    });
    const { charge: dying, effects } = createCharge({}, () => never());
    await first.call(failing, { amount: 1 }, task);
    void first.call(dying, { amount: 2 }, task);
    await until(() => effects.length === 1);
    await world.killAll();
    const warning = await (await world.runtime()).retryWarning(next);
    expect(lines(warning)[0]).toMatch(/\{"amount":1\}\) error -> .*socket closed/);
    expect(lines(warning)[1]).toMatch(/\{"amount":2\}\) unknown/);
  });

  it("rule 18: says for each call what a repeat gets, and that is what it gets", async () => {
    const world = await createWorld();
    const first = await world.runtime();
    const create = (name: string, replay: "recorded" | "run", fails: boolean) => {
      let runs = 0;
      const tool = defineTool({
        name,
        schema: z.object({}),
        sideEffect: true,
        idempotent: false,
        replay,
        acceptsIdempotencyKey: false,
        execute: () => {
          runs += 1;
          if (fails && runs === 1) throw new Error("exit 3");
          return runs;
        },
      });
      return { tool, runs: () => runs };
    };
    const cases = {
      recorded: create("recorded", "recorded", false),
      rerun: create("rerun", "run", false),
      failedRerun: create("failed_rerun", "run", true),
      failed: create("failed", "recorded", true),
    };
    for (const { tool } of Object.values(cases)) await first.call(tool, {}, task);
    const warning = await first.retryWarning(next);
    expect(warning).toMatch(/made then, not now/);
    expect(warning).toMatch(/outcome is unknown, verify the external state/);
    expect(lines(warning)).toEqual([
      expect.stringMatching(/ recorded\(.* success -> 1 \[a repeat returns this recorded result\]$/),
      expect.stringMatching(/ rerun\(.* success -> 1 \[a repeat runs again\]$/),
      expect.stringMatching(/ failed_rerun\(.* error -> .*exit 3.* \[a repeat runs again\]$/),
      expect.stringMatching(/ failed\(.* error -> .*exit 3.* \[outcome unknown: verify .*first\]$/),
    ]);
    for (const [name, status, runs] of [
      ["recorded", "success", 1],
      ["rerun", "success", 2],
      ["failedRerun", "success", 2],
      ["failed", "pending", 1],
    ] as const) {
      expect(await first.call(cases[name].tool, {}, next)).toMatchObject({ status });
      expect(cases[name].runs()).toBe(runs);
    }
  });

  it("rule 18: claims nothing about calls that were made inside others", async () => {
    const world = await createWorld();
    const runtime = await world.runtime();
    const outer = defineTool({ name: "outer", schema: z.object({}), execute: () => send.call({ to: "a" }) });
    await runtime.call(outer, {}, task);
    expect(lines(await runtime.retryWarning(next))).toEqual([
      expect.stringMatching(/ send\(.*\[made inside another call; verify/),
    ]);
  });

  it("rule 18: names a tool as the AI SDK adapter exposed it", async () => {
    const world = await createWorld();
    const runtime = await world.runtime();
    const pay = defineTool({ ...PAY, execute: (_args, ctx) => ctx.idempotencyKey });
    const [[name, offered] = ["", undefined]] = Object.entries(toAISDKTools([pay]));
    await runtime.run(task, () => offered?.execute({}, { toolCallId: "c1", messages: [] }));
    expect(name).not.toBe("pay.charge");
    expect(lines(await runtime.retryWarning(next))[0]).toContain(`attempt 1: ${name}(`);
    // The log has the tool's own name.
    expect(await runtime.calls(task)).toMatchObject([{ toolName: "pay.charge" }]);
  });

  it("rule 18: says that a repeat of a row of version 0.1 may run again", async () => {
    const world = await createWorld();
    const runtime = await world.runtime();
    await sendAll(runtime, 1);
    const store = await world.open();
    await store.transaction(() => change("UPDATE toolwright_calls SET reruns = NULL"), "normal");
    expect(lines(await runtime.retryWarning(next))[0]).toMatch(/\[verify .* may run again\]$/);
  });

  it("does not list replayed calls a second time", async () => {
    const world = await createWorld();
    const runtime = await world.runtime();
    await sendAll(runtime, 1);
    await runtime.call(send, { to: "user-1" }, next);
    expect(lines(await runtime.retryWarning({ ...task, attempt: 3 }))).toHaveLength(1);
  });

  it("is at most 4,000 characters, omits the oldest calls, and counts them", async () => {
    const world = await createWorld();
    const runtime = await world.runtime({ durability: "process" });
    await sendAll(runtime, 60, "x".repeat(100));
    const warning = await runtime.retryWarning(next);
    expect(warning.length).toBeLessThanOrEqual(4_000);
    expect(warning.length).toBeGreaterThan(3_000);
    const shown = lines(warning);
    expect(shown.at(-1)).toContain("user-60x");
    expect(warning).toContain(`${60 - shown.length} earlier calls`);
  });

  it("stays in bounds with one enormous call, which it still names", async () => {
    const world = await createWorld();
    const runtime = await world.runtime();
    await sendAll(runtime, 1, "😀".repeat(20_000));
    const warning = await runtime.retryWarning(next);
    expect(warning.length).toBeLessThanOrEqual(4_000);
    expect(lines(warning)).toHaveLength(1);
    expect(warning.isWellFormed()).toBe(true);
  });

  it("holds no secret", async () => {
    const world = await createWorld();
    const runtime = await world.runtime();
    await runtime.call(send, { to: "a", body: "the launch code is 4711" }, task);
    const warning = await runtime.retryWarning(next);
    expect(warning).toContain("[redacted sha256:");
    expect(warning).not.toContain("4711");
  });
});
