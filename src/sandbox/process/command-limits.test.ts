import { expect, test } from "vitest";
import { checkCommandInput, checkEnvironment, checkProcessLimits } from "./command-limits.ts";

const INVALID = expect.objectContaining({ code: "TOOL_INPUT_INVALID", effect: "none" }) as Error;

test("a value at the limit is accepted", () => {
  checkCommandInput({
    cmd: "x".repeat(8_192),
    args: Array<string>(128).fill("y".repeat(8_192)),
    cwd: "z".repeat(1_024),
  });
  checkProcessLimits({ timeoutMs: 3_600_000, maxOutputBytes: 10_485_760 });
  checkProcessLimits({ timeoutMs: 1, maxOutputBytes: 1 });
});

test.each([
  [{ cmd: "", args: [] }],
  [{ cmd: " \n", args: [] }],
  [{ cmd: "x".repeat(8_193), args: [] }],
  [{ cmd: "a\0", args: [] }],
  [{ cmd: "a", args: Array<string>(129).fill("") }],
  [{ cmd: "a", args: ["y".repeat(8_193)] }],
  [{ cmd: "a", args: ["\0"] }],
  [{ cmd: "a", args: "x" as unknown as string[] }],
  [{ cmd: "a", args: null as unknown as string[] }],
  [{ cmd: "a", args: [], cwd: "z".repeat(1_025) }],
])("what is beyond is refused (%#)", (input) => expect(() => checkCommandInput(input)).toThrow(INVALID));

test.each([[0], [-1], [Number.NaN], [Infinity], [3_600_001]])("a timeout of %s is refused", (timeoutMs) => {
  expect(() => checkProcessLimits({ timeoutMs, maxOutputBytes: 1 })).toThrow(INVALID);
});

test.each([[0], [-5], [10_485_761]])("an output limit of %s is refused", (maxOutputBytes) => {
  expect(() => checkProcessLimits({ timeoutMs: 1, maxOutputBytes })).toThrow(INVALID);
});

test.each([[{ "a=b": "" }], [{ "": "x" }], [{ a: "\0" }]])("%j is not an environment", (env) => {
  expect(() => checkEnvironment(env)).toThrow(INVALID);
});
