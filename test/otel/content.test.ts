/** Nothing secret leaves the process by default, and with `content: "redacted"` only what the log shows. */
import { createRuntime, defineTool, ToolwrightError } from "toolwright";
import { openTelemetry } from "toolwright/otel";
import { expect, it } from "vitest";
import { z } from "zod";
import { openSdk, spanNamed } from "./harness.ts";

const SECRETS = [
  "red-input",
  "red-output",
  "red-error",
  "card-4242",
  "red-progress",
  "red-comment",
  "red-key",
];

const pay = defineTool({
  name: "pay",
  schema: z.object({ note: z.string(), card: z.string() }),
  sideEffect: true,
  redact: { input: ["card"] },
  needsApproval: true,
  approvalPrompt: ({ note }) => `Pay for ${note}?`,
  execute: ({ note, card }, ctx) => {
    ctx.progress("red-progress", { note });
    ctx.log.info("red-progress", { card });
    if (note === "red-error") throw new Error(`red-error ${card} ${ctx.idempotencyKey}`);
    return { receipt: "red-output", card };
  },
});

async function payTwice(content: false | "redacted") {
  const seen = openSdk();
  await using runtime = createRuntime({
    store: ":memory:",
    telemetry: openTelemetry({ ...seen.sdk, content }),
  });
  const keys: string[] = [];
  for (const note of ["red-input", "red-error"]) {
    const args = { note, card: "card-4242" };
    const outcome = await runtime.call(pay, args, { runId: "r", callKey: `red-key ${note}` });
    if (outcome.status !== "pending") throw new Error(outcome.status);
    await runtime.resolveToolApproval(outcome.approval.id, { approved: true, comment: "red-comment" });
    const ran = await runtime.call(pay, args, { runId: "r", callKey: `red-key ${note}` });
    keys.push(ran.key ?? "");
  }
  return { seen, keys, text: await seen.text() };
}

it("by default no argument, output, message or key is in any span or metric", async () => {
  const { seen, keys, text } = await payTwice(false);
  expect(seen.spans().filter(({ name }) => name === "execute_tool pay")).toHaveLength(2);
  for (const secret of [...SECRETS, ...keys]) expect(text).not.toContain(secret);
});

it('content: "redacted" adds what the log shows, and no redacted field', async () => {
  const { seen, keys, text } = await payTwice("redacted");
  const [paid, failed] = seen.spans().filter(({ name }) => name === "execute_tool pay");
  expect(paid?.attributes["gen_ai.tool.call.arguments"]).toContain("red-input");
  expect(paid?.attributes["gen_ai.tool.call.result"]).toContain("red-output");
  expect(failed?.attributes["error.message"]).toContain("red-error");
  expect(spanNamed(seen.spans(), "request_approval pay").attributes).not.toHaveProperty(
    "gen_ai.tool.call.arguments",
  );
  for (const secret of ["card-4242", "red-progress", "red-comment", "red-key", ...keys])
    expect(text).not.toContain(secret);
});

it("the content of a call has no key of the calls inside it, at any depth", async () => {
  const effect = { schema: z.object({}), sideEffect: true } as const;
  const keys: string[] = [];
  const readKey = (_args: object, { idempotencyKey }: { readonly idempotencyKey: string }): string => {
    keys.push(idempotencyKey);
    return `sent ${idempotencyKey}`;
  };
  const plain = defineTool({ ...effect, name: "plain", execute: readKey });
  const business = defineTool({ ...effect, name: "business", idempotencyKey: () => "b", execute: readKey });
  const inner = defineTool({
    ...effect,
    idempotent: true,
    name: "inner",
    execute: async () => [await plain.execute({}), await business.execute({})],
  });
  const outer = defineTool({
    ...effect,
    idempotent: true,
    name: "outer",
    execute: async () => {
      const texts = await inner.execute({});
      if (keys.length === 2) throw new Error(texts.join());
      return texts;
    },
  });
  const seen = openSdk();
  await using runtime = createRuntime({
    store: ":memory:",
    telemetry: openTelemetry({ ...seen.sdk, content: "redacted" }),
  });
  await runtime.call(outer, {}, { runId: "r" });
  expect(keys).toHaveLength(2);
  // In the next attempt the calls inside are replayed.
  keys.push("no more error");
  const outcome = await runtime.call(outer, {}, { runId: "r", attempt: 2 });
  expect(outcome.status).toBe("success");
  const spans = seen.spans().filter(({ name }) => name === "execute_tool outer");
  expect(spans.map(({ attributes }) => attributes["error.message"] ?? "")).toEqual([
    expect.stringContaining("sent [key],sent [key]"),
    "",
  ]);
  expect(spans[1]?.attributes["gen_ai.tool.call.result"]).toContain("sent [key]");
  const text = await seen.text();
  for (const key of keys) expect(text).not.toContain(key);
});

it("an error type is a code or a class name, even if a library names its errors differently", async () => {
  const seen = openSdk();
  await using runtime = createRuntime({ store: ":memory:", telemetry: openTelemetry(seen.sdk) });
  for (const name of ["APIError", "red-key 42 was refused"]) {
    const error = Object.assign(new Error("red-error"), { name });
    await runtime.run({ runId: name, name: "p" }, () => Promise.reject(error)).catch(() => undefined);
  }
  expect(seen.spans().map(({ attributes }) => attributes["error.type"])).toEqual(["APIError", "_OTHER"]);
});

it("the code that a tool gives its errors is not exported if it is a text", async () => {
  const seen = openSdk();
  await using runtime = createRuntime({ store: ":memory:", telemetry: openTelemetry(seen.sdk) });
  const codes = ["SHOP_CLOSED", "red-key 4242 was refused", "X".repeat(1_000)];
  for (const code of codes) {
    const fail = defineTool({
      name: "fail",
      schema: z.object({}),
      retry: { maxRetries: 1, backoffMs: 0 },
      execute: () => {
        throw new ToolwrightError(code, "red-error", { retryable: true });
      },
    });
    const failing = runtime.run({ runId: `r${code.length}`, name: "p" }, () => fail.execute({}));
    await failing.catch(() => undefined);
  }
  const calls = seen.spans().filter(({ name }) => name === "execute_tool fail");
  const kinds = ["SHOP_CLOSED", "_OTHER", "_OTHER"];
  expect(calls.map(({ attributes }) => attributes["error.type"])).toEqual(kinds);
  expect(calls.map(({ events }) => events[0]?.attributes?.["error.type"])).toEqual(kinds);
  for (const metric of ["gen_ai.execute_tool.duration", "gen_ai.workflow.duration"])
    expect((await seen.points(metric)).map(({ attributes }) => attributes["error.type"])).toEqual([
      "SHOP_CLOSED",
      "_OTHER",
    ]);
  const text = await seen.text();
  expect(text).not.toContain("4242");
  expect(text).not.toContain("XXXXX");
});

it("metrics have no run id", async () => {
  const seen = openSdk();
  await using runtime = createRuntime({ store: ":memory:", telemetry: openTelemetry(seen.sdk) });
  await runtime.run({ runId: "run-number-one" }, () => runtime.call(pay, { note: "", card: "" }));
  const [duration] = await seen.points("gen_ai.workflow.duration");
  expect(duration?.attributes).toEqual({ "gen_ai.workflow.name": "program" });
  const withoutSpans = JSON.parse(await seen.text()) as unknown[];
  expect(JSON.stringify(withoutSpans[1])).not.toContain("run-number-one");
});
