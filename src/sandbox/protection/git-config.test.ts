import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { formatGitConfig, parseGitConfig, UNREADABLE } from "./git-config.ts";

/** How git itself parses the text. */
function readByGit(text: string): string[] {
  const folder = mkdtempSync(join(tmpdir(), "git-config-"));
  try {
    writeFileSync(join(folder, "config"), text);
    const output = execFileSync("git", ["config", "-z", "--list", "-f", join(folder, "config")], {
      encoding: "utf8",
    });
    return output.split("\0").filter((entry) => entry !== "");
  } finally {
    rmSync(folder, { recursive: true });
  }
}
const shown = (text: string): string[] =>
  parseGitConfig(text).map(({ name, value }) => (value === undefined ? name : `${name}\n${value}`));

const TEXTS = [
  "[core]\n\tbare = false\n\thooksPath = .husky # comment\n",
  '[remote "Origin \\"x\\""]\n  url = a b ; c\n\turl="  quoted # not a comment  "\n',
  "[core] fsmonitor = ./x\n[a]b=c\n",
  '[core]\n\tpager = a \\\n  b\n\teditor = \\"x\\"\n',
  "[A.Sub]\nKey\nother=\n",
  '[includeIf "gitdir:~/x/"]\n\tpath = ~/y\n',
  '; comment \\\n[core]\n\tx = 1\r\n\ty = "a\\nb\\tc"\n',
  "\uFEFF[core]\n\tx = y\n",
  "[core] # \\\n\tfsmonitor = x\n",
  "[core]\n\tbare = false # \\\n\tfsmonitor = x\n",
  "[core]\n\tbare = false\\\n # \\\n\tfsmonitor = x\n",
  '[core]\n\tbare = "false" ; "\\\n\tfsmonitor = x\n',
  '[core]\n\tx = "a # \\\nb"\n\ty = z\n',
];

test.each(TEXTS)("%j is read as git reads it", (text) => expect(shown(text)).toEqual(readByGit(text)));

test.each(TEXTS)("%j is written so that git reads the same", (text) => {
  expect(readByGit(formatGitConfig(parseGitConfig(text)))).toEqual(readByGit(text));
});

test.each(["[core", "[core]\n= x\n", "[a]\n1x = y\n"])("what cannot be read is reported: %j", (text) => {
  expect(parseGitConfig(text).map(({ name }) => name)).toContain(UNREADABLE);
});
