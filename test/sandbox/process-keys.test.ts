/** Toolchains on PATH are visible in the sandbox, but keys, settings and other projects next to them are not. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { bwrap } from "../../src/sandbox/tiers/bwrap.ts";
import { createIsolation, type Isolation, processIsolation } from "../../src/sandbox/tiers/isolation.ts";
import { landlock } from "../../src/sandbox/tiers/landlock.ts";
import { unshare } from "../../src/sandbox/tiers/unshare.ts";
import { runCommand } from "../../src/sandbox/process/run-command.ts";
import { createPlace, requireBubblewrap, script, type Place } from "./process-harness.ts";
import { isRoot } from "./tier-agent.ts";

let place: Place;
let made: string[];
const path = process.env["PATH"];

beforeAll(requireBubblewrap);
beforeEach(() => {
  place = createPlace();
  made = [];
});
afterEach(() => {
  process.env["PATH"] = path;
  for (const each of made) rmSync(each, { recursive: true, force: true });
  place.remove();
});

function keep(file: string, mode = 0o644): string {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, "KEY\n");
  chmodSync(file, mode);
  return file;
}

function program(file: string): string {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, "#!/bin/sh\necho it runs\n");
  chmodSync(file, 0o755);
  return file;
}

/** A folder with a program and a key side by side; its programs are on PATH. */
async function expectProgramAndNoKey(folder: string, key: string, mode?: number): Promise<void> {
  const file = keep(join(folder, key), mode);
  program(join(folder, "bin", "its-program"));
  process.env["PATH"] = `${join(folder, "bin")}:${path}`;
  const home = dirname(folder);
  const outcome = await script(place.root, `its-program; cat ${file}; ls -A ${folder}`, {
    env: { HOME: home },
  });
  expect(outcome.text).toContain("it runs\n");
  expect(outcome.text).not.toContain("KEY");
}

test.each([
  [".fly", "config.yml", 0o600],
  [".pulumi", "credentials.json", 0o600],
  [".docker", "config.json", 0o644],
  ["project", ".env", 0o644],
  ["project", "bin/.env", 0o644],
  ["project", "lib/secrets/token", 0o600],
  ["project", "lib/1/2/3/4/5/token", 0o600],
  ["project", "share/1/2/3/4/5/.env", 0o644],
  ["project", "config/master.key", 0o644],
] as const)("in a home, %s/%s stays hidden when its programs are on PATH", async (folder, key, mode) => {
  await expectProgramAndNoKey(join(place.out, "home", folder), key, mode);
});

test.each(["bwrap", "unshare", "landlock"] as const)(
  "in a home, a closed folder of keys deep in a toolchain stays hidden in %s",
  async (name) => {
    const folder = join(place.out, "home/tool");
    const files = [keep(join(folder, "lib/a/b/c/auth/token")), keep(join(folder, "lib/a/b/c/note"))];
    chmodSync(dirname(files[0] ?? ""), 0o700);
    program(join(folder, "bin", "its-program"));
    process.env["PATH"] = `${join(folder, "bin")}:${path}`;
    const tier = { bwrap, unshare, landlock }[name];
    const on = createIsolation({ path: () => process.env["PATH"], warn: () => {}, tiers: [tier] });
    const { output } = await runCommand({
      cmd: "sh",
      args: ["-c", `its-program; cat ${files.join(" ")} 2>&1; true`],
      rootDir: place.root,
      env: { HOME: dirname(folder) },
      allowNetwork: false,
      maxOutputBytes: 10_000,
      timeoutMs: 10_000,
      isolation: "auto",
      on,
    });
    expect(output.match(/it runs|KEY/g)).toEqual(["it runs", "KEY"]);
  },
);

test.runIf(isRoot)("in /opt, settings of an application stay hidden, on PATH or not", async () => {
  const folder = mkdtempSync("/opt/toolwright-test-");
  made.push(folder);
  chmodSync(folder, 0o755);
  await expectProgramAndNoKey(folder, ".env");
  await expectProgramAndNoKey(folder, "config/database.yml");
  process.env["PATH"] = path;
  expect((await script(place.root, `cat ${folder}/.env`)).text).not.toContain("KEY");
});

test.runIf(isRoot)("a program of /opt behind a system link can be run", async () => {
  const folder = mkdtempSync("/opt/toolwright-test-");
  const link = `/usr/local/bin/toolwright-test-${process.pid}`;
  made.push(folder, link);
  chmodSync(folder, 0o755);
  keep(join(folder, ".env"));
  symlinkSync(program(join(folder, "bin", "its-program")), link);
  const { text } = await script(place.root, `toolwright-test-${process.pid}; cat ${folder}/.env`, {
    env: { PATH: `/usr/local/bin:${path}` },
  });
  expect(text).toContain("it runs\n");
  expect(text).not.toContain("KEY");
});

test.runIf(isRoot)(
  "a key that is created in /etc after the first command is hidden from the next",
  async () => {
    await script(place.root, "true");
    const folder = mkdtempSync("/etc/toolwright-test-");
    made.push(folder);
    chmodSync(folder, 0o755);
    const key = keep(join(folder, "key.pem"), 0o600);
    const named = keep(join(folder, ".env"));
    const note = keep(join(folder, "note.txt"));
    const { text } = await script(place.root, `cat ${key} ${named}; cat ${note} > f; wc -c f`);
    expect(text).not.toContain("KEY");
    expect(text).toContain("4 f");
  },
);

test.runIf(isRoot)("a key that vanishes before its mount costs a second build, not the command", async () => {
  const folder = mkdtempSync("/etc/toolwright-test-");
  made.push(folder);
  chmodSync(folder, 0o755);
  keep(join(folder, "key.pem"), 0o600);
  let builds = 0;
  const on: Isolation = {
    ...processIsolation,
    choose: async (...args) => {
      const detected = await processIsolation.choose(...args);
      return {
        ...detected,
        plan: (request) => {
          const launch = detected.plan(request);
          builds += 1;
          rmSync(folder, { recursive: true, force: true });
          return launch;
        },
      };
    },
  };
  const { output } = await runCommand({
    cmd: "echo",
    args: ["it runs"],
    rootDir: place.root,
    allowNetwork: false,
    maxOutputBytes: 10_000,
    timeoutMs: 10_000,
    isolation: "require",
    on,
  });
  expect([output, builds]).toEqual(["it runs\n", 2]);
});
