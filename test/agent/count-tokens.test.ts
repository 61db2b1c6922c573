import { expect, it } from "vitest";
import type { AgentMessage } from "toolwright";
import { createMessageCounter } from "../../src/agent/context/count-tokens.ts";
import { estimateTokens } from "../../src/model/estimate-tokens.ts";
import { ask, call, createAgent, createOrders, createWorld, user } from "./harness.ts";

const said = (content: AgentMessage["content"]): AgentMessage => ({ role: "user", content });

it("OpenAI tokens are counted by their tokenizer, others by a safe estimate", async () => {
  const words = said("The quick brown fox jumps over the lazy dog.");
  const { sizeOf: exact } = await createMessageCounter(undefined, "gpt-5.1");
  expect(exact(words)).toBe(10 + 4);
  const { sizeOf: estimated } = await createMessageCounter(undefined, "claude-sonnet-5-5");
  expect(estimated(words)).toBe(estimateTokens(words));
  expect(estimated(words)).toBeGreaterThan(exact(words));
});

it("hostile texts are counted like any other, and quickly", async () => {
  const { sizeOf: count } = await createMessageCounter(undefined, "openai/gpt-5.1");
  expect(count(said("<|endoftext|> and <|im_start|>"))).toBeGreaterThan(4);
  // Counted as a whole, this would take minutes.
  expect(count(said("x".repeat(1_000_000)))).toBeGreaterThan(50_000);
});

it("a custom counter is used, unless it throws, returns no number, or the content is more than text", async () => {
  const { sizeOf: count } = await createMessageCounter((text) => {
    if (text === "bad") throw new Error("no");
    return text === "odd" ? Number.NaN : 7;
  }, "gpt-5.1");
  expect(count(said("anything"))).toBe(11);
  expect(count(said("odd"))).toBe(estimateTokens(said("odd")));
  expect(count(said("bad"))).toBe(estimateTokens(said("bad")));
  const image = said([{ type: "image_url", image_url: { url: "http://localhost/x.png" } }]);
  expect(count(image)).toBe(estimateTokens(image));
});

it("an image counts as providers count it, regardless of its size in bytes", async () => {
  const { sizeOf: count } = await createMessageCounter(undefined, "claude-sonnet-5-5");
  const data = "A".repeat(3_000_000);
  const images: AgentMessage["content"][] = [
    [{ type: "image_url", image_url: { url: `data:image/png;base64,${data}` } }],
    [{ type: "file", mediaType: "image/png", data: { type: "data", data } }],
    [{ type: "image", source: { type: "base64", data } }],
  ];
  for (const image of images) expect(count(said(image))).toBeLessThan(2_000);
  expect(count(said([{ type: "file", mediaType: "text/plain", data }]))).toBeGreaterThan(900_000);
});

it("a message is counted once, in whichever lists it is sent", async () => {
  const counted: string[] = [];
  const { sizesOf } = await createMessageCounter((text) => {
    counted.push(text);
    return text.length - 4;
  }, "any");
  const [a, b, c, d] = [said("aaaaa"), said("bbbbbb"), said("ccccccc"), said("dddddddd")];
  expect(sizesOf([a, b])).toEqual([5, 6]);
  expect(sizesOf([a, b, c])).toEqual([5, 6, 7]);
  expect(sizesOf([a, d, c])).toEqual([5, 8, 7]);
  expect(sizesOf([a])).toEqual([5]);
  expect(sizesOf([])).toEqual([]);
  expect(sizesOf([c, a])).toEqual([7, 5]);
  expect(counted).toEqual([a, b, c, d].map(({ content }) => content));
});

it("an answer with calls is counted once, and not again by the next invoke", async () => {
  const counted: string[] = [];
  const countTokens = (text: string): number => counted.push(text);
  const { order } = createOrders();
  const { agent } = await createAgent(
    await createWorld(),
    [[call("order", { sku: "apple" })], "Ordered.", "Nothing."],
    { tools: [order], countTokens },
  );
  const { state } = await agent.invoke(ask("Order."));
  counted.splice(0);
  await agent.invoke({ ...state, messages: [...state.messages, user("What else?")] });
  expect(counted).toEqual(["What else?", "Nothing."]);
});
