import { expect, it } from "vitest";
import type { AgentMessage } from "toolwright";
import { createMessageCounter } from "../../src/agent/context/count-tokens.ts";
import { estimateTokens } from "../../src/util/estimate-tokens.ts";

const said = (content: AgentMessage["content"]): AgentMessage => ({ role: "user", content });

it("a model of OpenAI is counted for by its tokenizer, others by an estimate on the safe side", async () => {
  const words = said("The quick brown fox jumps over the lazy dog.");
  const exact = await createMessageCounter(undefined, "gpt-5.1");
  expect(exact(words)).toBe(10 + 4);
  const estimated = await createMessageCounter(undefined, "claude-sonnet-5-5");
  expect(estimated(words)).toBe(estimateTokens(words));
  expect(estimated(words)).toBeGreaterThan(exact(words));
});

it("hostile texts are counted like any other, and soon", async () => {
  const count = await createMessageCounter(undefined, "openai/gpt-5.1");
  expect(count(said("<|endoftext|> and <|im_start|>"))).toBeGreaterThan(4);
  // Counted whole, this would take minutes.
  expect(count(said("x".repeat(1_000_000)))).toBeGreaterThan(50_000);
});

it("a counter of one's own is used, unless it gives no number or there is more than text", async () => {
  const count = await createMessageCounter((text) => (text === "odd" ? Number.NaN : 7), "gpt-5.1");
  expect(count(said("anything"))).toBe(11);
  expect(count(said("odd"))).toBe(estimateTokens(said("odd")));
  const image = said([{ type: "image_url", image_url: { url: "http://localhost/x.png" } }]);
  expect(count(image)).toBe(estimateTokens(image));
});
