import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { defuseRepository } from "./defuse-repositories.ts";

let root = "";
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "defuse-")));
  mkdirSync(join(root, ".git/objects"), { recursive: true });
  mkdirSync(join(root, ".git/refs"));
  writeFileSync(join(root, ".git/HEAD"), "ref: refs/heads/main\n");
});
afterEach(() => rmSync(root, { recursive: true }));

const defuse = (text: string): { taken: string[]; after: string } => {
  writeFileSync(join(root, ".git/config"), text);
  const taken = defuseRepository(root, join(root, ".git"), "change");
  return { taken, after: readFileSync(join(root, ".git/config"), "utf8") };
};

// A person may have made it while a command ran, and it is not ours to change.
test.each(["a person's text\n", "HOST\n", "[core]\n\tbare = false\nno setting\n", "[core\n", "%\n", ""])(
  "settings that git refuses stay as they are: %j",
  (text) => expect(defuse(text)).toEqual({ taken: [], after: text }),
);

test.each(["HOST\n", "[core]\n\tname # comment\n", "%\n", ""])("a setting after %j is turned off", (text) => {
  const { taken, after } = defuse(`${text}[core]\n\tfsmonitor = touch ${root}/PWNED; false\n`);
  expect(taken).toContain("core.fsmonitor");
  expect(after).toMatch(/^# .*fsmonitor/m);
  execFileSync("git", ["status"], { cwd: root, stdio: "ignore" });
  expect(() => readFileSync(join(root, "PWNED"))).toThrow(/ENOENT/);
});
