import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readGitGuards } from "./git-guards.ts";
import { followInside } from "./protection-plan.ts";

let workTree = "";
beforeEach(() => {
  workTree = realpathSync(mkdtempSync(join(tmpdir(), "git-guards-")));
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

test.each([
  `cd t && ./x`,
  `d=t; $d/x`,
  `D="t"; \\"\${D}\\"/x -a`,
  `\${TOOL:-t/x} -a`,
  `\\"$(git rev-parse --show-toplevel)\\"/t/x`,
  `f() { t/x; }; f`,
  `(cd t; sh x)`,
])("the program of the command line %j is found", (line) => {
  mkdirSync(join(workTree, "t"));
  writeFileSync(join(workTree, "t/x"), "");
  expect(named(`[alias]\n\tx = "!${line}"`).programs).toContain(join(workTree, "t/x"));
});

test("a missing script for an interpreter is found, and one behind cd", () => {
  mkdirSync(join(workTree, "t"));
  expect(named(`[filter "f"]\n\tclean = sh x.sh %f`).missingPrograms).toEqual([join(workTree, "x.sh")]);
  expect(named(`[alias]\n\tx = "!cd t && ./x"`).missingPrograms).toContain(join(workTree, "t/x"));
});

test("paths with .. behind a link are those that git takes", () => {
  mkdirSync(join(workTree, "a/b"), { recursive: true });
  mkdirSync(join(workTree, "tools"));
  symlinkSync("a/b", join(workTree, "l"));
  symlinkSync("../a/b", join(workTree, ".git/hooks"));
  symlinkSync("../../tools/x", join(workTree, "a/b/pre-commit"));
  const { folders, settings, programs, missingPrograms } = named(
    `[core]\n\thooksPath = l/../hooks\n[include]\n\tpath = ../l/../settings\n`,
  );
  const endOf = (path: string): string => followInside(path, workTree).end;
  expect(folders.map(endOf)).toContain(join(workTree, "a/hooks"));
  expect(settings.map(endOf)).toEqual([join(workTree, "a/settings")]);
  expect([...programs, ...missingPrograms].map(endOf)).toContain(join(workTree, "tools/x"));
});

test("an address or a plain word is not a missing program", () => {
  expect(named(`[alias]\n\ta = status\n\tb = "!git log x.sh"`).missingPrograms).toEqual([]);
  expect(named(`[submodule "a"]\n\tupdate = rebase\n\turl = ./t/x`).missingPrograms).toEqual([]);
});
