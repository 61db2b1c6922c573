import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findToolchains } from "./toolchains.ts";

let home: string;
let root: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "toolwright-home-"));
  root = join(home, "project");
  mkdirSync(root);
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

function program(path: string): void {
  mkdirSync(dirname(join(home, path)), { recursive: true });
  writeFileSync(join(home, path), "#!/bin/sh\n");
  chmodSync(join(home, path), 0o755);
}

function found(command: string, ...folders: string[]): string[] {
  const path = [...folders.map((folder) => join(home, folder)), "/usr/bin"].join(":");
  const visible = ["/usr"];
  return findToolchains({ path, command, home, root, visible }).map((folder) =>
    folder.slice(home.length + 1),
  );
}

test("a version manager comes back as a whole", () => {
  program(".pyenv/shims/python3");
  program(".nvm/versions/node/v24/bin/node");
  expect(found("sh", ".pyenv/shims", ".nvm/versions/node/v24/bin")).toEqual([
    ".nvm/versions/node/v24",
    ".pyenv",
  ]);
});

test("of folders that hold keys too, only the programs come back", () => {
  program(".local/bin/tool");
  program(".cargo/bin/cargo");
  program("bin/mine");
  mkdirSync(join(home, ".rustup"));
  expect(found("sh", ".local/bin", ".cargo/bin", "bin")).toEqual([
    ".cargo/bin",
    ".local/bin",
    ".rustup",
    "bin",
  ]);
});

test("the real file of the command comes back too", () => {
  program("apps/node-24/bin/node");
  mkdirSync(join(home, ".local/bin"), { recursive: true });
  symlinkSync(join(home, "apps/node-24/bin/node"), join(home, ".local/bin/node"));
  expect(found("node", ".local/bin")).toEqual([".local/bin", "apps/node-24"]);
});

test("the home itself, the root and folders that are not there never come back", () => {
  program("x");
  expect(found("sh", "", "project", "nowhere/bin")).toEqual([]);
});

test("what is visible already is not mounted again", () => {
  expect(
    findToolchains({ path: "/usr/bin:/usr/sbin", command: "sh", home, root, visible: ["/usr"] }),
  ).toEqual([]);
});
