/** Completion scripts, run by the shells themselves where they are installed. */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createFolder, toolwright } from "./command.ts";

const isInstalled = (shell: string): boolean => spawnSync(shell, ["-c", "true"]).status === 0;

/** The completions that each shell offers at the end of a line. */
const ASK: Readonly<Record<string, (file: string, line: string) => string[]>> = {
  bash: (file, line) => {
    const words = line.split(" ");
    const list = words.map((word) => `"${word}"`).join(" ");
    return [
      "-c",
      `source "${file}"; COMP_WORDS=(${list}); COMP_CWORD=${words.length - 1}; _toolwright; printf '%s\\n' "\${COMPREPLY[@]}"`,
    ];
  },
  fish: (file, line) => ["--no-config", "-c", `source "${file}"; complete -C "${line}"`],
};

const CASES: readonly (readonly [line: string, offered: readonly string[]])[] = [
  ["toolwright app", ["approvals", "approve"]],
  ["toolwright init --template ", ["agent", "chat", "mcp", "tool", "workflow"]],
  ["toolwright init --ag", ["--agents"]],
  ["toolwright up --isol", ["--isolation"]],
  ["toolwright up --isolation ", ["auto", "off", "require"]],
  ["toolwright completion ", ["bash", "fish", "zsh"]],
  ["toolwright help res", ["resume"]],
];

async function scriptFor(shell: string): Promise<string> {
  const folder = createFolder();
  const { code, stdout } = await toolwright(folder, ["completion", shell]);
  expect(code).toBe(0);
  const file = join(folder, `script.${shell}`);
  writeFileSync(file, stdout);
  return file;
}

describe.each(Object.entries(ASK))("in %s", (shell, ask) => {
  it.skipIf(!isInstalled(shell))("offers commands, options and choices", async () => {
    const file = await scriptFor(shell);
    for (const [line, offered] of CASES) {
      const { stdout, stderr } = spawnSync(shell, ask(file, line), { encoding: "utf8" });
      const words = stdout.split("\n").flatMap((found) => (found === "" ? [] : [found.split("\t")[0] ?? ""]));
      expect([line, words.toSorted(), stderr]).toEqual([line, offered, ""]);
    }
  });
});

it.skipIf(!isInstalled("zsh"))(
  "in zsh, defines a function that zsh can parse, and registers it",
  async () => {
    const file = await scriptFor("zsh");
    const { stdout, stderr } = spawnSync("zsh", ["-f", "-c", `source "${file}"; print $_comps[toolwright]`], {
      encoding: "utf8",
    });
    expect([stdout, stderr]).toEqual(["_toolwright\n", ""]);
  },
);

it.each(["bash", "zsh", "fish"])(
  "the script for %s has every command and every long option",
  async (shell) => {
    const { stdout } = await toolwright(createFolder(), ["completion", shell]);
    const help = await toolwright(createFolder(), ["--help"]);
    const [, list = ""] = /Commands:\n([^]*?)\n\n/.exec(help.stdout) ?? [];
    const commands = [...list.matchAll(/^ {2}(\w+)/gm)].map(([, name = ""]) => name);
    expect(commands.length).toBeGreaterThan(15);
    for (const name of commands) expect(stdout).toMatch(new RegExp(`\\b${name}\\b`));
    for (const option of ["--accept-changes", "--happened", "--older-than", "--template"])
      expect(stdout).toContain(shell === "fish" ? `-l ${option.slice(2)}` : option);
  },
);

it("refuses an unknown shell, and prints JSON", async () => {
  const refused = await toolwright(createFolder(), ["completion", "tcsh"]);
  expect(refused).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("Allowed choices are bash, zsh, fish"),
  });
  const json = await toolwright(createFolder(), ["completion", "fish", "--json"]);
  expect(json.json()).toMatchObject({
    shell: "fish",
    script: expect.stringContaining("complete -c toolwright"),
  });
});
