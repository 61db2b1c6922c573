import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { isInRoot, keepOutOf, temporaryFolder } from "./temporary-folder.ts";

let base = "";
let root = "";
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "temporary-")));
  root = join(base, "root");
  mkdirSync(join(root, "tmp"), { recursive: true });
  return () => rmSync(base, { recursive: true });
});
afterEach(() => vi.unstubAllEnvs());

test("a temporary folder in a root is not used, even through a link", () => {
  vi.stubEnv("TMPDIR", join(base, "link"));
  symlinkSync(join(root, "tmp"), join(base, "link"));
  expect(temporaryFolder()).toBe(join(root, "tmp"));
  keepOutOf(root);
  expect(temporaryFolder()).not.toContain(base);
});

test("a folder for state in a root counts as changeable before it exists", () => {
  vi.stubEnv("XDG_STATE_HOME", join(base, "state"));
  symlinkSync(root, join(base, "state"));
  keepOutOf(root);
  expect(isInRoot(join(base, "state/toolwright/untrusted"))).toBe(true);
  expect(isInRoot(join(base, "other/toolwright"))).toBe(false);
});
