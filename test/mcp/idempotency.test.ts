/** One key, one effect: however often it is sent, by any client, and after any crash. */
import { describe, expect, it } from "vitest";
import {
  connect,
  crashAfterNextEffect,
  createServerFolder,
  type Era,
  errorOf,
  keyed,
  ledgerOf,
  openRuntime,
} from "./harness.ts";

const order = (sku: string, name = "place_order"): { name: string; arguments: { sku: string } } => ({
  name,
  arguments: { sku },
});

describe.each<Era>(["legacy", "modern"])("%s clients", (era) => {
  it("get the logged result for the same key, even from a server that was started later", async () => {
    const folder = createServerFolder();
    const first = await connect(folder, { era });
    const answers = [await first.callTool({ ...order("apple"), ...keyed("k1") })];
    answers.push(await first.callTool({ ...order("apple"), ...keyed("k1") }));
    const second = await connect(folder, { era });
    answers.push(await second.callTool({ ...order("apple"), ...keyed("k1") }));
    expect(answers.map((answer) => answer.structuredContent)).toEqual(
      answers.map(() => ({ sku: "apple", orders: 1 })),
    );
    expect(answers.map(({ _meta }) => _meta?.["toolwright/replayed"])).toEqual([false, true, true]);
    expect(ledgerOf(folder)).toEqual(["apple"]);
  });
});

it("has one effect when the same key is sent many times concurrently, to two servers", async () => {
  const folder = createServerFolder();
  const clients = await Promise.all([connect(folder), connect(folder)]);
  const answers = await Promise.all(
    [...clients, ...clients, ...clients].map((client) =>
      client.callTool({ ...order("pear", "place_blind"), ...keyed("at once") }),
    ),
  );
  expect(answers.map((answer) => answer.structuredContent)).toEqual(
    answers.map(() => ({ sku: "pear", orders: 1 })),
  );
  expect(ledgerOf(folder)).toEqual(["pear"]);
});

it("refuses a key that was used for different arguments or for another tool, and runs nothing", async () => {
  const folder = createServerFolder();
  const client = await connect(folder);
  await client.callTool({ ...order("apple"), ...keyed("k") });
  const others = [
    await client.callTool({ ...order("plum"), ...keyed("k") }),
    await client.callTool({ ...order("apple", "place_blind"), ...keyed("k") }),
  ];
  expect(others.map((answer) => errorOf(answer)["error_type"])).toEqual([
    "idempotency_conflict",
    "idempotency_conflict",
  ]);
  expect(ledgerOf(folder)).toEqual(["apple"]);
});

it("gives a key that two calls send concurrently to one of them", async () => {
  const folder = createServerFolder();
  const clients = await Promise.all([connect(folder), connect(folder)]);
  const answers = await Promise.all(
    clients.map((client, index) => client.callTool({ ...order(`sku-${index}`), ...keyed("both") })),
  );
  expect(answers.filter(({ isError }) => isError !== true)).toHaveLength(1);
  expect(answers.map((answer) => errorOf(answer)["error_type"])).toContain("idempotency_conflict");
  expect(ledgerOf(folder)).toHaveLength(1);
});

it.each(["", 7, "x".repeat(501)])("refuses %j as a key", async (key) => {
  const client = await connect(createServerFolder());
  const answer = await client.callTool({ ...order("apple"), ...keyed(key as string) });
  expect(errorOf(answer)).toMatchObject({
    error_type: "option_invalid",
    message: expect.stringContaining("1 to 500"),
  });
});

it("has the effect once when the server is killed between effect and log", async () => {
  const folder = createServerFolder();
  crashAfterNextEffect(folder);
  const first = await connect(folder);
  await expect(first.callTool({ ...order("apple"), ...keyed("k") })).rejects.toThrow();
  expect(ledgerOf(folder)).toEqual(["apple"]);
  const second = await connect(folder);
  const answer = await second.callTool({ ...order("apple"), ...keyed("k") });
  expect(answer.structuredContent).toEqual({ sku: "apple", orders: 1 });
  expect(ledgerOf(folder)).toEqual(["apple"]);
});

it("shows the three answers for a killed call with an unknown outcome, and does not accept a bare yes", async () => {
  const folder = createServerFolder();
  crashAfterNextEffect(folder);
  const blind = { ...order("apple", "place_blind"), ...keyed("k") };
  await expect((await connect(folder)).callTool(blind)).rejects.toThrow();
  const asked: string[] = [];
  const client = await connect(folder, {
    onElicit: (message) => {
      asked.push(message);
      return { action: "accept" };
    },
  });
  const waiting = await client.callTool(blind);
  expect(errorOf(waiting)["next_action_hint"]).toContain("--happened");
  // A yes could mean "it happened" or "run it", so it decides nothing.
  expect(asked).toEqual([expect.stringMatching(/interrupted[^]*happened: [^]*run-again: [^]*give-up: /)]);
  const runtime = openRuntime(folder);
  const [request] = await runtime.approvals({ status: "pending" });
  await runtime.resolveToolApproval(request?.id ?? "", {
    resolution: "happened",
    output: { sku: "apple", orders: 1 },
  });
  expect((await client.callTool(blind)).structuredContent).toEqual({ sku: "apple", orders: 1 });
  expect(ledgerOf(folder)).toEqual(["apple"]);
});

it.each([
  [{ resolution: "happened", output: '{"sku":"apple","orders":1}' }, { sku: "apple", orders: 1 }, 1],
  [{ resolution: "run-again" }, { sku: "apple", orders: 2 }, 2],
  [{ resolution: "give-up" }, "approval_denied", 1],
  [{ resolution: "happened", output: "not JSON" }, "output_invalid", 1],
  [{ resolution: "yes" }, "approval_pending", 1],
] as const)("the client's user decides about a killed call with %j", async (content, expected, effects) => {
  const folder = createServerFolder();
  crashAfterNextEffect(folder);
  const blind = { ...order("apple", "place_blind"), ...keyed("k") };
  await expect((await connect(folder)).callTool(blind)).rejects.toThrow();
  const client = await connect(folder, { onElicit: () => ({ action: "accept", content }) });
  const answer = await client.callTool(blind);
  if (typeof expected === "string") expect(errorOf(answer)["error_type"]).toBe(expected);
  else expect(answer.structuredContent).toEqual(expected);
  expect(ledgerOf(folder)).toHaveLength(effects);
});
