import { expect, it } from "vitest";
import { withoutComments } from "./without-comments.ts";

it.each([
  ["a line comment", "f(); // ctx.idempotencyKey", "f();  "],
  ["a comment at the end of each line", "a // one\nb // two\nc", "a  \nb  \nc"],
  ["a block comment", "a /* one\n * two */ b", "a   b"],
])("removes %s", (_name, source, left) => {
  expect(withoutComments(source)).toBe(left);
});

it.each([
  ["an address in a text", 'fetch("https://pay.example", { key })'],
  ["an address in single quotes", "fetch('https://pay.example', { key })"],
  ["an address in a template", "fetch(`https://${host}/pay`, { key })"],
  ["a quote in a text", 'say("it\'s // fine", "\\" // fine", key)'],
  ["a division", "a / b / key"],
])("keeps %s", (_name, source) => {
  expect(withoutComments(source)).toBe(source);
});
