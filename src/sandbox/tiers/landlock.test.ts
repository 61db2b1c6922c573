/** Changes between the scan of the root and the start of the command: only the folders of the plan get rules. */
import { linkSync, mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { holdProtections, type ProtectionPlan } from "../protection/protection-plan.ts";
import { runProcess, type ProcessResult } from "../process/run-process.ts";
import { landlock } from "./landlock.ts";

let base: string;
let root: string;
let plan: ProtectionPlan;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "toolwright-landlock-")));
  root = join(base, "root");
  for (const name of ["sub", "other"]) mkdirSync(join(root, name), { recursive: true });
  writeFileSync(join(root, "sub/settings"), "mine\n");
  plan = holdProtections(root, [{ kind: "readOnly", path: join(root, "sub/settings") }], []);
});
afterEach(() => {
  plan.close();
  rmSync(base, { recursive: true, force: true });
});

async function run(text: string): Promise<ProcessResult> {
  const programs = await landlock.find((name) => `/usr/bin/${name}`);
  if (typeof programs === "string") throw new Error(`These tests need Perl: ${programs}`);
  const launch = landlock.plan(programs, {
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

test("an unchanged folder is closed around the protected paths in it", async () => {
  const result = await run(
    `cat sub/settings; echo x >> sub/settings || echo refused; echo y > other/y && cat other/y`,
  );
  expect(result.stopped).toBeUndefined();
  expect(result.output.text()).toMatch(/mine\n(.*\n)*refused\n(.*\n)*y\n/);
});

test("a folder that has changed places with another is not opened under the other name", async () => {
  renameSync(join(root, "sub"), join(root, "kept"));
  renameSync(join(root, "other"), join(root, "sub"));
  renameSync(join(root, "kept"), join(root, "other"));
  const result = await run(`echo x >> other/settings; echo ran`);
  expect(result.stopped).toBe("mismatch");
  expect(result.output.text()).not.toContain("ran");
});

test("a protected file is not opened under another of its names", async () => {
  linkSync(join(root, "sub/settings"), join(root, "copy"));
  const result = await run(`echo x >> copy || echo refused`);
  expect(result.output.text()).toContain("refused");
});
