/** Retries: how many, how long the waits are, and which errors are retried. */
import { defineTool, type RetryOptions, type RuntimeEvent, ToolwrightError } from "toolwright";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createEagerClock } from "./eager-clock.ts";
import { createClock, createWorld, settle, until } from "./harness.ts";
import { createBlindCharge, createCharge, harmless } from "./tools.ts";

const task = { runId: "r1" };

/** A pure tool that fails in the given ways, one per try, and then succeeds. */
function createFlaky(retry: RetryOptions, failures: readonly unknown[]) {
  let tries = 0;
  const flaky = defineTool({
    name: "flaky",
    schema: z.object({}),
    retry,
    execute() {
      tries += 1;
      if (tries <= failures.length) throw failures[tries - 1];
      return tries;
    },
  });
  return { flaky, tries: () => tries };
}

async function waitsOf(retry: RetryOptions, failures: readonly unknown[]): Promise<readonly number[]> {
  const world = await createWorld();
  const clock = createEagerClock();
  const { flaky } = createFlaky({ maxRetries: failures.length, ...retry }, failures);
  const outcome = await (await world.runtime({ clock })).call(flaky, {}, task);
  expect(outcome).toMatchObject({ status: "success", output: failures.length + 1 });
  return clock.sleeps;
}

const failed = (count: number): Error[] => Array.from({ length: count }, () => new Error("down"));

describe("the wait before a retry", () => {
  it("doubles, with at most a quarter of jitter on top", async () => {
    const waits = await waitsOf({ backoffMs: 100 }, failed(5));
    expect(waits).toHaveLength(5);
    for (const [index, wait] of waits.entries()) {
      expect(wait).toBeGreaterThanOrEqual(100 * 2 ** index);
      expect(wait).toBeLessThanOrEqual(100 * 2 ** index * 1.25);
    }
    // There is jitter: not every wait is a round number.
    expect(waits.some((wait, index) => wait !== 100 * 2 ** index)).toBe(true);
  });

  it("starts at 200 ms by default", async () => {
    const [first = 0] = await waitsOf({}, failed(1));
    expect(first).toBeGreaterThanOrEqual(200);
    expect(first).toBeLessThanOrEqual(250);
  });

  it("is zero with a backoff of 0", async () => {
    expect((await waitsOf({ backoffMs: 0 }, failed(3))).filter((wait) => wait > 0)).toEqual([]);
  });

  it("is never longer than maxBackoffMs, jitter included", async () => {
    const waits = await waitsOf({ backoffMs: 1_000, maxBackoffMs: 1_500 }, failed(12));
    expect(waits).toHaveLength(12);
    expect(Math.max(...waits)).toBeLessThanOrEqual(1_500);
    expect(waits.slice(1).every((wait) => wait >= 1_200)).toBe(true);
  });

  it("stays within the default cap of 30 s however often it doubles", async () => {
    const waits = await waitsOf({ backoffMs: 10_000 }, failed(20));
    expect(Math.max(...waits)).toBeLessThanOrEqual(30_000);
  });
});

describe("a service that sends Retry-After", () => {
  const at = new Date(1_000_000 + 7_000);
  it.each<[string, object, number]>([
    ["retryAfterMs", { retryAfterMs: 1234 }, 1234],
    ["retryAfterMs of 0", { retryAfterMs: 0, headers: { "retry-after": "9" } }, 0],
    ["seconds in Headers", { headers: new Headers({ "Retry-After": "3" }) }, 3_000],
    ["seconds in plain headers", { headers: { "retry-after": "3" } }, 3_000],
    ["seconds in headers spelt otherwise", { headers: { "Retry-After": 3 } }, 3_000],
    ["seconds in responseHeaders", { responseHeaders: { "retry-after": "2" } }, 2_000],
    ["seconds in error.response.headers", { response: { headers: { "retry-after": "4" } } }, 4_000],
    [
      "Headers in error.response.headers",
      { response: { headers: new Headers({ "retry-after": "4" }) } },
      4_000,
    ],
    ["a date", { headers: { "retry-after": at.toUTCString() } }, 7_000],
    ["a date that has passed", { headers: { "retry-after": new Date(0).toUTCString() } }, 0],
  ])("%s overrides the backoff, with no jitter", async (_how, fields, expected) => {
    const waits = await waitsOf({ backoffMs: 50 }, [Object.assign(new Error("429"), fields)]);
    expect(waits.filter((wait) => wait > 0)).toEqual(expected === 0 ? [] : [expected]);
  });

  it("is found in a ToolwrightError too, in its details and in its cause", async () => {
    const inDetails = new ToolwrightError("TOOL_EXECUTION_FAILED", "429", { details: { retryAfterMs: 700 } });
    const inCause = new ToolwrightError("TOOL_EXECUTION_FAILED", "429", {
      cause: { headers: { "retry-after": "2" } },
    });
    expect(await waitsOf({ backoffMs: 50 }, [inDetails, inCause])).toEqual([700, 2_000]);
  });

  it.each<[string, unknown]>([
    ["a text that is not a time", { headers: { "retry-after": "soon" } }],
    ["an empty text", { headers: { "retry-after": "" } }],
    ["a negative number", { retryAfterMs: -5 }],
    ["no number at all", { retryAfterMs: Number.NaN }],
    ["no response", { response: null, headers: null }],
  ])("is ignored if it says %s", async (_how, fields) => {
    const [wait = 0] = await waitsOf({ backoffMs: 100 }, [Object.assign(new Error("429"), fields)]);
    expect(wait).toBeGreaterThanOrEqual(100);
    expect(wait).toBeLessThanOrEqual(125);
  });

  it("is found in a thrown Response, which is not an Error", async () => {
    const response = new Response("busy", { status: 429, headers: { "retry-after": "5" } });
    expect(await waitsOf({ backoffMs: 50 }, [response])).toEqual([5_000]);
  });
});

describe("shouldRetry", () => {
  it("receives the thrown value and the number of the retry, and may be asynchronous", async () => {
    const world = await createWorld();
    const asked: [Error, number][] = [];
    const failures = failed(5);
    const { flaky, tries } = createFlaky(
      {
        maxRetries: 5,
        backoffMs: 0,
        shouldRetry: async (error, attempt) => {
          asked.push([error, attempt]);
          await settle();
          return attempt < 3;
        },
      },
      failures,
    );
    const outcome = await (await world.runtime()).call(flaky, {}, task);
    expect(outcome).toMatchObject({
      status: "error",
      error: { code: "TOOL_EXECUTION_FAILED", message: "down" },
    });
    expect(tries()).toBe(3);
    expect(asked.map(([, attempt]) => attempt)).toEqual([1, 2, 3]);
    expect(asked.every(([error], index) => error === failures[index])).toBe(true);
  });

  it.each<[string, RetryOptions["shouldRetry"]]>([
    [
      "throws",
      () => {
        throw new Error("cannot tell");
      },
    ],
    ["rejects", () => Promise.reject(new Error("cannot tell"))],
    ["says no", () => false],
  ])("that %s means no, and the tool's own error is the outcome", async (_how, shouldRetry) => {
    const world = await createWorld();
    const { flaky, tries } = createFlaky({ maxRetries: 5, backoffMs: 0, shouldRetry }, failed(1));
    const outcome = await (await world.runtime()).call(flaky, {}, task);
    expect(outcome).toMatchObject({ status: "error", error: { message: "down" } });
    expect(tries()).toBe(1);
  });

  it("receives an Error even if the tool threw something else", async () => {
    const world = await createWorld();
    const asked: Error[] = [];
    const shouldRetry = (error: Error): boolean => asked.push(error) > 0;
    const { flaky } = createFlaky({ maxRetries: 2, backoffMs: 0, shouldRetry }, ["a text", { code: 5 }]);
    expect(await (await world.runtime()).call(flaky, {}, task)).toMatchObject({ status: "success" });
    expect(asked.map((error) => [error instanceof Error, error.message])).toEqual([
      [true, "a text"],
      [true, '{"code":5}'],
    ]);
  });
});

describe("how often", () => {
  it("tries once and maxRetries times more, and logs the number of tries in one row", async () => {
    const world = await createWorld();
    const { flaky, tries } = createFlaky({ maxRetries: 2, backoffMs: 0 }, failed(9));
    expect(await (await world.runtime()).call(flaky, {}, task)).toMatchObject({ status: "error" });
    expect(tries()).toBe(3);
    expect(await world.log("r1")).toMatchObject([{ status: "error", tries: 3 }]);
  });

  it("emits an event for each retry, with the wait and the reason", async () => {
    const world = await createWorld();
    const clock = createEagerClock();
    const { flaky } = createFlaky({ maxRetries: 2, backoffMs: 100 }, failed(2));
    const runtime = await world.runtime({ clock });
    const events: RuntimeEvent[] = [];
    runtime.subscribe((event) => events.push(event));
    await runtime.call(flaky, {}, task);
    const retried = events.filter((event) => event.type === "call-retried");
    expect(retried).toMatchObject([
      { tries: 1, errorCode: "TOOL_EXECUTION_FAILED" },
      { tries: 2, errorCode: "TOOL_EXECUTION_FAILED" },
    ]);
    expect(retried.map(({ waitMs }) => waitMs)).toEqual(clock.sleeps);
  });

  it("does not retry a non-idempotent side effect that has not read its key", async () => {
    const world = await createWorld();
    const { charge, effects } = createBlindCharge({ retry: { maxRetries: 3, backoffMs: 0 } }, () => {
      throw new Error("reset");
    });
    expect(await (await world.runtime()).call(charge, { amount: 1 }, task)).toMatchObject({
      status: "error",
    });
    expect(effects).toHaveLength(1);
  });

  it("does not retry it if its author says that the service ignores the key it read", async () => {
    const world = await createWorld();
    const policies = { acceptsIdempotencyKey: false, retry: { maxRetries: 3, backoffMs: 0 } };
    const { charge, effects } = createCharge(policies, () => {
      throw new Error("reset");
    });
    expect(await (await world.runtime()).call(charge, { amount: 1 }, task)).toMatchObject({
      status: "error",
    });
    expect(effects).toHaveLength(1);
  });

  it("retries it with the same key if it has read its key", async () => {
    const world = await createWorld();
    const { charge, effects } = createCharge({ retry: { maxRetries: 3, backoffMs: 0 } }, (count) => {
      if (count < 3) throw new Error("reset");
    });
    const outcome = await (await world.runtime()).call(charge, { amount: 1 }, task);
    expect(outcome).toMatchObject({ status: "success", output: { id: "ch_3" } });
    expect(effects).toHaveLength(3);
    expect(new Set(effects.map(({ key }) => key))).toEqual(new Set([outcome.key]));
  });

  it("retries it while its errors say that nothing happened", async () => {
    const world = await createWorld();
    const { charge, effects } = createBlindCharge({ retry: { maxRetries: 5, backoffMs: 0 } }, (count) => {
      throw count < 3 ? harmless("refused") : new Error("reset");
    });
    expect(await (await world.runtime()).call(charge, { amount: 1 }, task)).toMatchObject({
      status: "error",
      error: { message: "reset" },
    });
    expect(effects).toHaveLength(3);
  });

  it("retries an idempotent side effect whatever its error says", async () => {
    const world = await createWorld();
    const { charge, effects } = createBlindCharge(
      { idempotent: true, retry: { maxRetries: 1, backoffMs: 0 } },
      (count) => {
        if (count === 1) throw new Error("reset");
      },
    );
    expect(await (await world.runtime()).call(charge, { amount: 1 }, task)).toMatchObject({
      status: "success",
    });
    expect(effects).toHaveLength(2);
  });

  it("never retries after an error that says that the effect happened", async () => {
    const world = await createWorld();
    const { flaky, tries } = createFlaky({ maxRetries: 3, backoffMs: 0 }, [
      Object.assign(new Error("sent, then lost"), { effect: "happened" }),
    ]);
    expect(await (await world.runtime()).call(flaky, {}, task)).toMatchObject({ status: "error" });
    expect(tries()).toBe(1);
  });
});

describe("outside any run", () => {
  it("retries too", async () => {
    const { flaky, tries } = createFlaky({ maxRetries: 2, backoffMs: 0 }, failed(2));
    expect(await flaky.execute({})).toBe(3);
    expect(tries()).toBe(3);
  });
});

it("an abort ends the wait immediately, and there is no retry", async () => {
  const world = await createWorld();
  const clock = createClock();
  const controller = new AbortController();
  const { flaky, tries } = createFlaky({ maxRetries: 3, backoffMs: 60_000 }, failed(9));
  const call = (await world.runtime({ clock })).call(flaky, {}, { ...task, signal: controller.signal });
  await until(() => clock.sleeps.length === 1);
  controller.abort(new Error("user pressed stop"));
  expect(await call).toMatchObject({ status: "error", error: { code: "TOOL_ABORTED" } });
  expect(tries()).toBe(1);
});
