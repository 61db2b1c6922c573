import { constants } from "node:fs";
import { describe, expect, it } from "vitest";
import { realPathStrategy } from "../../src/sandbox/files/path-strategy.ts";
import { runFileCase } from "./files-case-runner.ts";
import { PATH_CASES } from "./files-cases.ts";
import { EDIT_CASES } from "./files-edit-cases.ts";
import { READ_AND_WRITE_CASES } from "./files-read-write-cases.ts";

describe("kinds of paths, with each tool", () => {
  it.each(PATH_CASES)("$id", async (testCase) => {
    expect(await runFileCase(testCase)).toEqual([]);
  });
});

// The code path of macOS, with the flag of this kernel instead of its own.
describe("kinds of paths, walked by real paths", () => {
  const strategy = realPathStrategy(constants.O_NOFOLLOW);
  it.each(PATH_CASES)("$id", async (testCase) => {
    expect(await runFileCase(testCase, strategy)).toEqual([]);
  });
});

describe("cases of read and write", () => {
  it.each(READ_AND_WRITE_CASES)("$id", async (testCase) => {
    expect(await runFileCase(testCase)).toEqual([]);
  });
});

describe("patches", () => {
  it.each(EDIT_CASES)("$id", async (testCase) => {
    expect(await runFileCase(testCase)).toEqual([]);
  });
});
