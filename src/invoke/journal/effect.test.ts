/** The `effect` column: what a call proves about its external effect. */
import { expect, test } from "vitest";
import { ToolwrightError } from "../../errors.ts";
import type { Call } from "../call.ts";
import type { Result } from "../outcome.ts";
import { effectOf } from "./effect.ts";

const ran = { executed: true, mayHaveHappened: false, noEffectSoFar: true, interruptedInExecute: false };

const failed = (effect?: "none" | "happened"): Result =>
  ({
    kind: "error",
    error: new ToolwrightError("TOOL_EXECUTION_FAILED", "failed", effect === undefined ? {} : { effect }),
  }) as unknown as Result;

const success = { kind: "success" } as unknown as Result;
const interrupted = { kind: "interrupted" } as unknown as Result;

test.each<[string, Partial<typeof ran>, Result, "none" | "happened" | null]>([
  ["a success happened", {}, success, "happened"],
  ["a call that was not executed had none", { executed: false }, failed(), "none"],
  [
    "a refusal after an earlier try proves nothing",
    { executed: false, mayHaveHappened: true },
    failed(),
    null,
  ],
  ["an error leaves it in doubt", {}, failed(), null],
  ["an error that reports none had none", {}, failed("none"), "none"],
  ["an error that reports it happened", {}, failed("happened"), "happened"],
  ["an earlier try in doubt stays in doubt", { noEffectSoFar: false }, failed("none"), null],
  ["an interruption inside execute leaves it in doubt", { interruptedInExecute: true }, interrupted, null],
  ["an interruption between tries without effect had none", {}, interrupted, "none"],
])("%s", (_name, progress, result, expected) => {
  expect(effectOf({ ...ran, ...progress } as unknown as Call, result)).toBe(expected);
});
