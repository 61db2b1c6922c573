/** Changes between the scan of the root and the start of the command: the launcher trusts no name. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { holdProtections, type ProtectionPlan } from "../protection/protection-plan.ts";
import { runProcess, type ProcessResult } from "../process/run-process.ts";
import type { ProtectedPath } from "../protection/protection-plan.ts";

import { unshare } from "./unshare.ts";

let base: string;
let root: string;
let plan: ProtectionPlan;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "toolwright-unshare-")));
  root = join(base, "root");
  mkdirSync(join(root, "sub"), { recursive: true });
  writeFileSync(join(root, "sub/settings"), "mine\n");
  writeFileSync(join(base, "key"), "KEY\n");
});
afterEach(() => {
  plan.close();
  rmSync(base, { recursive: true, force: true });
});

function look(kind: ProtectedPath["kind"]): void {
  plan = holdProtections(root, [{ kind, path: join(root, "sub/settings") }], []);
}

async function run(text: string): Promise<ProcessResult> {
  const programs = await unshare.find((name) => `/usr/bin/${name}`);
  if (typeof programs === "string") throw new Error(`These tests need Perl: ${programs}`);
  const launch = unshare.plan(programs, {
    plan,
    root,
    cwd: root,
    cmd: "/bin/sh",
    args: ["-c", text],
    rootReadOnly: false,
    env: { PATH: "/usr/bin:/bin", HOME: "/nonexistent" },
    allowNetwork: false,
    hidden: [],
    readOnly: [],
  });
  return runProcess({ launch, merge: true, maxOutputBytes: 10_000, timeoutMs: 60_000 });
}

test("a protected file that is as it was is mounted, and the command runs", async () => {
  look("readOnly");
  const result = await run(
    `cat sub/settings; echo x >> sub/settings || echo refused; mv sub moved || echo pinned`,
  );
  expect(result.output.text()).toContain("mine\n");
  expect(result.output.text()).toMatch(/refused\n(.*\n)*pinned\n/);
  expect(result.stopped).toBeUndefined();
});

const CHANGES: readonly [string, () => void][] = [
  ["replaced by another file", () => writeOver(join(root, "sub/settings"))],
  ["replaced by a link", () => linkOver(join(root, "sub/settings"), join(base, "key"))],
  ["removed", () => rmSync(join(root, "sub/settings"))],
  ["moved with its folder, which is a link now", () => linkOver(join(root, "sub"), base)],
];

test.each(CHANGES)(
  "a protected file that was %s after the look is a mismatch, and nothing runs",
  async (_, change) => {
    look("hideFile");
    change();
    const result = await run(`echo ran > ran; cat sub/settings`);
    expect(result).toMatchObject({ stopped: "mismatch", mismatch: expect.stringContaining("sub") });
    expect(result.output.text()).toBe("");
    expect(existsSync(join(root, "ran"))).toBe(false);
  },
);

test("a command never gets a root that was replaced after the check", async () => {
  look("readOnly");
  linkOver(root, base);
  const result = await run(`cat key; cat sub/settings`);
  expect(result.output.text()).not.toContain("KEY");
});

test("a hidden file can be neither read nor written under any name", async () => {
  look("hideFile");
  const result = await run(
    `cat sub/settings; (echo x > sub/settings) || echo refused; cp -r sub copy; cat copy/*; true`,
  );
  expect(result.output.text()).toContain("refused");
  expect(result.output.text()).not.toContain("mine");
});

function writeOver(path: string): void {
  writeFileSync(`${path}.new`, "other\n");
  renameSync(`${path}.new`, path);
}

function linkOver(path: string, target: string): void {
  renameSync(path, `${path}.old`);
  symlinkSync(target, path);
}
