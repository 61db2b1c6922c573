/** Errors for models stay valid JSON when they are shortened. */
import { expect, test } from "vitest";
import { shortenErrorText } from "./shorten-error-text.ts";

const errorText = (message: string, hint = "Try again."): string =>
  JSON.stringify({ is_error: true, code: "TOOL_TIMEOUT", message, next_action_hint: hint });
const mark = (shown: number, total: number): string => `[${shown} of ${total}]`;

test("an error that fits stays unchanged", () => {
  const text = errorText("short");
  expect(shortenErrorText(text, 1_000, mark)).toBe(text);
});

test.each(["x", "\n", "😀", "\u0001"])("an error full of %j fits, and is still an error", (char) => {
  const shortened = shortenErrorText(errorText(char.repeat(5_000), "h".repeat(900)), 700, mark) ?? "";
  expect(shortened.length).toBeLessThanOrEqual(700);
  expect(shortened.isWellFormed()).toBe(true);
  expect(JSON.parse(shortened)).toMatchObject({ is_error: true, code: "TOOL_TIMEOUT" });
  expect(shortened).toContain(`of ${5_000 * char.length}]`);
});

test("a text that is not an error is not shortened here", () => {
  expect(shortenErrorText('{"a":1}', 3, mark)).toBeUndefined();
  expect(shortenErrorText("not JSON", 3, mark)).toBeUndefined();
});
