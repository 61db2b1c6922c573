/** Whether the code of a function names the key. */
import { runInThisContext } from "node:vm";
import { expect, it } from "vitest";
import { namesKey } from "./tool-spec.ts";

const named = (code: string): boolean =>
  namesKey(runInThisContext(`(ctx) => {\n${code}\n}`) as () => unknown);

it.each([
  ["a line comment", "pay(); // ctx.idempotencyKey"],
  ["one of several line comments", "a(); // one\n// ctx.idempotencyKey\nb();"],
  ["a block comment", "a(); /* pass\n * ctx.idempotencyKey */ b();"],
])("does not count %s", (_name, code) => {
  expect(named(code)).toBe(false);
});

it.each([
  ["an address in a text", 'fetch("https://pay.example", { key: ctx.idempotencyKey })'],
  ["an address in single quotes", "fetch('https://pay.example', { key: ctx.idempotencyKey })"],
  ["an address in a template", "fetch(`https://${host}/pay`, { key: ctx.idempotencyKey })"],
  ["a quote in a text", 'say("it\'s // fine", "\\" // fine", ctx.idempotencyKey)'],
  ["a division", "a / b / ctx.idempotencyKey"],
  ["a comment", "a(); // pass it on\nb(ctx.idempotencyKey);"],
])("counts the key after %s", (_name, code) => {
  expect(named(code)).toBe(true);
});
