/** Hidden values are removed from texts in every common encoding. */
import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import type { ToolSpec } from "../definition/tool-spec.ts";
import { createScrubber, secretsOf } from "./scrub.ts";

const spec = { redactInput: ["key"], redactOutput: ["token"] } as unknown as ToolSpec;
const secret = `p4ss "wörd"/&+'\\<!`;
const scrub = createScrubber({ spec, args: { key: secret, city: "Vienna" }, input: { key: secret } });

describe("a secret is removed", () => {
  test.each<[string, string]>([
    ["as it is", secret],
    ["in another case", secret.toUpperCase()],
    ["in JSON", JSON.stringify({ key: secret })],
    ["in JSON inside JSON", JSON.stringify(JSON.stringify({ key: secret }))],
    ["in a URL", `https://example.org/?key=${encodeURIComponent(secret)}`],
    ["in base64", Buffer.from(secret).toString("base64")],
    ["in base64url", Buffer.from(secret).toString("base64url")],
    ["in the base64 of a longer text", Buffer.from(`u:${secret}:x`).toString("base64")],
    ["in a form", new URLSearchParams({ key: secret }).toString()],
    ["in JSON of PHP", JSON.stringify(secret).replaceAll("/", String.raw`\/`)],
    ["in JSON of Python", JSON.stringify(secret).replaceAll("ö", String.raw`\u00F6`)],
    ["in a Node dump", inspect({ key: secret })],
    [
      "in HTML",
      secret
        .replaceAll("&", "&amp;")
        .replaceAll("<", "&lt;")
        .replaceAll('"', "&quot;")
        .replaceAll("'", "&#39;"),
    ],
    ["in a shell", `'${secret.replaceAll("'", String.raw`'\''`)}'`],
    ["with decomposed letters", secret.normalize("NFD")],
    ["as single bytes", Buffer.from(secret).toString("latin1")],
    ["with one character encoded as in a URL", secret.replaceAll("+", "%2B")],
    ["with some characters encoded as in a URL", secret.replaceAll(/[ "\\]/g, encodeURIComponent)],
    ["in hex", Buffer.from(secret).toString("hex")],
    ["in a URL inside a URL", encodeURIComponent(`https://a/?b=${encodeURIComponent(secret)}`)],
    ["in a dump of its bytes", inspect(Buffer.from(secret))],
    ["in JSON of its bytes", JSON.stringify(Buffer.from(secret))],
  ])("%s", (_name, text) => {
    const scrubbed = scrub(`failed: ${text}!`);
    expect(scrubbed).toContain("[redacted]");
    expect(scrubbed).not.toContain(text);
    expect(scrubbed).not.toMatch(/p4ss/i);
  });

  const key = "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0\nBKcwggSjAgEAAoIBAQDBj0\n-----END KEY-----\n";
  test.each<[string, string]>([
    ["without the line break at its end", key.trimEnd()],
    ["with other line breaks", key.replaceAll("\n", "\r\n")],
    ["by one of its lines", key.split("\n")[1] ?? ""],
    ["in a dump of its lines", inspect({ key })],
  ])("%s", (_name, text) => {
    expect(createScrubber({ spec, args: { key }, input: {} })(`bad: ${text}!`)).not.toMatch(/MIIE|BKcw/);
  });
});

test("a content of many lines is removed as a whole, in bounded time and memory", () => {
  const content = Array.from({ length: 20_000 }, (_, line) => `line "${line}" of the content`).join("\n");
  const scrubbed = createScrubber({ spec, args: { key: content }, input: {} })(`bad: ${content}!`);
  expect(scrubbed).toBe("bad: [redacted]!");
});

test("other values stay", () => {
  expect(scrub("no weather in Vienna")).toBe("no weather in Vienna");
});

test("the longest secret is removed first, so that no rest of it remains", () => {
  const both = createScrubber({ spec, args: { key: ["abcd", "abcdef"] }, input: {} });
  expect(both("abcdef abcd")).toBe("[redacted] [redacted]");
});

test("secrets shorter than three characters are not removed, since they occur in words", () => {
  expect(createScrubber({ spec, args: { key: "ab" }, input: {} })("about")).toBe("about");
});

test("an input that does not match the schema may contain the secret anywhere", () => {
  expect(createScrubber({ spec, args: { kye: "hunter2x" } })("bad hunter2x")).toBe("bad [redacted]");
});

test("a circular value is read once", () => {
  const args: Record<string, unknown> = { key: "hunter2" };
  args["self"] = args;
  expect(createScrubber({ spec, args })("hunter2")).toBe("[redacted]");
});

test("a hidden list may have any number of values", () => {
  const key = Array.from({ length: 150_000 }, (_, index) => 1_000_000 + index);
  expect(secretsOf({ spec, args: { key } }).size).toBe(key.length);
});
