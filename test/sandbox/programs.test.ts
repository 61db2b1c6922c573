/** An attack with a missing program proves nothing, so a missing program fails this test. */
import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";

const PROGRAMS = [
  "bwrap",
  "unshare",
  "perl",
  "git",
  "python3",
  "curl",
  "wget",
  "busybox",
  "nc",
  "socat",
  "strace",
  "openssl",
];

test.skipIf(process.platform !== "linux")(
  "the programs that the sandbox and the attacks need are installed",
  () => {
    const missing = PROGRAMS.filter((name) => spawnSync("sh", ["-c", `command -v ${name}`]).status !== 0);
    const sentence = `Please install ${missing.join(", ")}: run "npm run setup" as root, or see scripts/setup.ts for the packages.`;
    expect(missing, sentence).toEqual([]);
  },
);
