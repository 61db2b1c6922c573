import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findToolchains, type Toolchains } from "./toolchains.ts";

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

function keep(path: string, mode = 0o644): void {
  mkdirSync(dirname(join(home, path)), { recursive: true });
  writeFileSync(join(home, path), "SECRET\n");
  chmodSync(join(home, path), mode);
}

function found(command: string, ...folders: string[]): string[] {
  return namesOf(look(command, ...folders).shown);
}

function look(command: string, ...folders: string[]): Toolchains {
  const path = [...folders.map((folder) => join(home, folder)), "/usr/bin"].join(":");
  return findToolchains({ path, command, home, root, visible: ["/usr"] });
}

const namesOf = (paths: readonly string[]): string[] => paths.map((path) => path.slice(home.length + 1));

test("a version manager comes back with its programs and what they load", () => {
  program(".pyenv/shims/python3");
  program(".pyenv/versions/3.13/bin/python3");
  keep(".pyenv/version");
  keep(".pyenv/notes.txt");
  program(".nvm/versions/node/v24/bin/node");
  keep(".nvm/versions/node/v24/lib/node_modules/npm/index.js");
  keep(".nvm/versions/node/v24/README.md");
  expect(found("sh", ".pyenv/shims", ".nvm/versions/node/v24/bin")).toEqual([
    ".nvm/versions/node/v24/bin",
    ".nvm/versions/node/v24/lib",
    ".pyenv/shims",
    ".pyenv/version",
    ".pyenv/versions",
  ]);
});

test("next to the programs of the home itself, nothing else is shown but packages of npm", () => {
  program("bin/tool");
  for (const name of ["lib/mine", "share/taxes/2025.txt", "include/x", "etc/x", "Cellar/x"]) keep(name);
  expect(found("tool", "bin")).toEqual(["bin"]);
  keep("lib/node_modules/npm/index.js");
  symlinkSync(home, `${home}-link`);
  expect(found("tool", "bin")).toEqual(["bin", "lib/node_modules"]);
  const linked = { path: `${home}-link/bin`, command: "tool", home: `${home}-link`, root, visible: ["/usr"] };
  expect(findToolchains(linked).shown.filter((path) => /share|include|lib$/.test(path))).toEqual([]);
  rmSync(`${home}-link`);
});

test.each([
  [".fly/config.yml", ".fly/bin/flyctl"],
  [".pulumi/credentials.json", ".pulumi/bin/pulumi"],
  [".docker/config.json", ".docker/bin/docker"],
  ["other/.env", "other/bin/serve"],
  ["other/config/master.key", "other/bin/serve"],
  ["other/src/settings.ts", "other/bin/serve"],
])("%s does not come back because %s is on PATH", (secret, path) => {
  program(path);
  keep(secret);
  const { shown } = look("sh", dirname(path));
  expect(namesOf(shown)).toEqual([dirname(path)]);
});

test("of a folder that is not made for programs, only the programs come back", () => {
  program("other/run");
  keep("other/.env");
  keep("other/lib/keys.json");
  expect(found("sh", "other")).toEqual(["other/run"]);
});

test("a part that is a link is not followed", () => {
  program("tool/bin/tool");
  keep(".ssh/id_ed25519", 0o600);
  symlinkSync(join(home, ".ssh"), join(home, "tool/lib"));
  expect(found("sh", "tool/bin")).toEqual(["tool/bin"]);
});

test("files that others cannot read, and files named like secrets, are masked in a toolchain", () => {
  program("tool/bin/tool");
  keep("tool/bin/.env");
  keep("tool/lib/token", 0o600);
  keep("tool/lib/deep/credentials.json");
  keep("tool/lib/deep/data.json");
  chmodSync(join(home, "tool/bin/tool"), 0o700);
  keep("tool/lib/1/2/3/4/5/key", 0o600);
  keep("tool/lib/1/2/3/4/5/server.key");
  keep("tool/lib/node_modules/cloud/dist/credentials.d.ts");
  keep("tool/lib/python3/site-packages/cloud/credentials.py");
  expect(namesOf(look("sh", "tool/bin").maskedFiles).toSorted()).toEqual([
    "tool/bin/.env",
    "tool/lib/1/2/3/4/5/key",
    "tool/lib/1/2/3/4/5/server.key",
    "tool/lib/deep/credentials.json",
    "tool/lib/token",
  ]);
});

test("further names of secrets are masked, and modules with similar names are not", () => {
  const names =
    ".pgpass .htpasswd .my.cnf secrets.yml secret.json prod.tfvars service-account.json service_account_key.json id_dsa id_ed25519_sk a.p12 a.ppk";
  const others = "secrets.py secrets.d.ts service-account.ts keys.json cacert.pem";
  program("tool/bin/tool");
  for (const name of `${names} ${others}`.split(" ")) keep(`tool/lib/${name}`);
  const masked = names.split(" ").map((name) => `tool/lib/${name}`);
  expect(namesOf(look("sh", "tool/bin").maskedFiles).toSorted()).toEqual(masked.toSorted());
});

test("a folder that others cannot enter is masked, unless programs are in it", () => {
  program("tool/bin/tool");
  keep("tool/lib/1/2/3/auth/token");
  chmodSync(join(home, "tool/lib/1/2/3/auth"), 0o700);
  program("tool/lib/versions/3.13/bin/python3");
  keep("tool/lib/versions/3.13/lib/os.py");
  chmodSync(join(home, "tool/lib/versions/3.13"), 0o700);
  const { maskedFiles, maskedFolders } = look("sh", "tool/bin");
  expect([namesOf(maskedFiles), namesOf(maskedFolders)]).toEqual([[], ["tool/lib/1/2/3/auth"]]);
});

test("documentation is not shown", () => {
  program("tool/bin/tool");
  keep("tool/share/doc/index.html");
  keep("tool/share/zoneinfo/UTC");
  const { shown, maskedFolders } = look("sh", "tool/bin");
  expect([namesOf(shown), namesOf(maskedFolders)]).toEqual([["tool/bin", "tool/share"], ["tool/share/doc"]]);
});

test("too many private files are masked as whole folders, and a part of nothing else is not shown", () => {
  program("tool/bin/tool");
  keep("tool/lib/token", 0o600);
  for (let index = 0; index < 150; index += 1) keep(`tool/lib/a/b/${index}`, 0o600);
  for (let index = 0; index < 150; index += 1) keep(`tool/share/${index}`, 0o600);
  const { shown, maskedFiles, maskedFolders } = look("sh", "tool/bin");
  expect(namesOf(shown)).toEqual(["tool/bin", "tool/lib"]);
  expect([namesOf(maskedFiles), namesOf(maskedFolders)]).toEqual([["tool/lib/token"], ["tool/lib/a/b"]]);
});

test("a secret that is made after the first look is masked at the next", () => {
  program("tool/bin/tool");
  expect(look("sh", "tool/bin").maskedFiles).toEqual([]);
  keep("tool/bin/key", 0o600);
  expect(namesOf(look("sh", "tool/bin").maskedFiles)).toEqual(["tool/bin/key"]);
});

test("of folders that hold keys too, only the programs come back", () => {
  program(".local/bin/tool");
  program(".cargo/bin/cargo");
  program("bin/mine");
  keep(".cargo/credentials.toml");
  keep(".rustup/settings.toml");
  keep(".rustup/toolchains/stable/lib/a.so");
  expect(found("sh", ".local/bin", ".cargo/bin", "bin")).toEqual([
    ".cargo/bin",
    ".local/bin",
    ".rustup/settings.toml",
    ".rustup/toolchains",
    "bin",
  ]);
});

test("the real file of the command comes back too", () => {
  program("apps/node-24/bin/node");
  mkdirSync(join(home, ".local/bin"), { recursive: true });
  symlinkSync(join(home, "apps/node-24/bin/node"), join(home, ".local/bin/node"));
  expect(found("node", ".local/bin")).toEqual([".local/bin", "apps/node-24/bin"]);
});

test("the home itself, the root and folders that are not there never come back", () => {
  program("x");
  expect(found("sh", "", "project", "nowhere/bin")).toEqual([]);
});

test("what is visible already is not mounted again", () => {
  expect(
    findToolchains({ path: "/usr/bin:/usr/sbin", command: "sh", home, root, visible: ["/usr"] }),
  ).toEqual({ shown: [], maskedFiles: [], maskedFolders: [] });
});

test("a link on PATH shows no keys of the folder that it leads to", () => {
  program("dotfiles/bin/mine");
  keep("dotfiles/bin/token", 0o600);
  symlinkSync("dotfiles/bin", join(home, "bin"));
  program(".aws/helper");
  keep(".aws/credentials");
  mkdirSync(join(home, "cloud"));
  symlinkSync("../.aws", join(home, "cloud/bin"));
  const { shown, maskedFiles } = look("sh", "bin", "cloud/bin");
  expect(namesOf(shown)).toEqual([".aws/helper", "bin", "cloud/bin/helper", "dotfiles/bin"]);
  expect(namesOf(maskedFiles)).toEqual(["bin/token", "dotfiles/bin/token"]);
});
