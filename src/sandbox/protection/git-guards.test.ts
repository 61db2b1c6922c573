import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readGitGuards } from "./git-guards.ts";

let workTree = "";
beforeEach(() => {
  workTree = mkdtempSync(join(tmpdir(), "git-guards-"));
  mkdirSync(join(workTree, ".git"));
});
afterEach(() => rmSync(workTree, { recursive: true }));

const named = (settings: string) => {
  const gitDir = join(workTree, ".git");
  writeFileSync(join(gitDir, "config"), settings);
  return readGitGuards({ gitDir, workTree });
};

test.each([
  [`[gpg "ssh"]\n\tdefaultKeyCommand = ./t/x`, "t/x"],
  [`[core]\n\talternateRefsCommand = ./t/x`, "t/x"],
  [`[gc]\n\trecentObjectsHook = ./t/x`, "t/x"],
  [`[tar "y"]\n\tcommand = ./t/x -c`, "t/x"],
  [`[hook "y"]\n\tcommand = ./t/x`, "t/x"],
  [`[sendemail]\n\ttoCmd = ./t/x`, "t/x"],
  // Git runs it in the folder of the submodule.
  [`[submodule "sub/m"]\n\tupdate = !./t/x`, "sub/m/t/x"],
])("a missing program is found in %j", (settings, path) => {
  expect(named(settings).missingPrograms).toEqual([join(workTree, path)]);
});

test("a program in the folder of a submodule is found", () => {
  mkdirSync(join(workTree, "sub"));
  writeFileSync(join(workTree, "sub/x"), "");
  expect(named(`[submodule "sub"]\n\tupdate = !./x`).programs).toEqual([join(workTree, "sub/x")]);
});

test("an address or a plain word is not a missing program", () => {
  expect(named(`[submodule "a"]\n\tupdate = rebase\n\turl = ./t/x`).missingPrograms).toEqual([]);
});
