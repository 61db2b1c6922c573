/** Two copies of the package in one process: of one version they work together, of two versions they refuse each other. */
import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { OWN_COPY } from "../src/definition/package-copy.ts";

const ROOT = resolve(import.meta.dirname, "..");
const PROGRAM = join(import.meta.dirname, "programs/two-copies.ts");

/** Another installation of the package, with the same peers. */
function installCopy(version: string): string {
  const folder = mkdtempSync(join(tmpdir(), "toolwright-copy-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const name of ["src", "sql", "package.json"])
    cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  const file = join(folder, "src/definition/package-copy.ts");
  const text = readFileSync(file, "utf8");
  expect(text).toContain(`"${OWN_COPY.version}"`);
  writeFileSync(file, text.replace(`"${OWN_COPY.version}"`, `"${version}"`));
  return folder;
}

async function useTogether(folder: string): Promise<Record<string, Record<string, unknown>>> {
  const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, folder], {
    cwd: folder,
    env: { ...process.env, NODE_NO_WARNINGS: "1" },
  });
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as Record<string, Record<string, unknown>>;
}

test("rule 34: copies of one version share their runs, and every call is logged", async () => {
  const charged = { euros: 1, hasKey: true, sameKey: true };
  const calls = ["charge success"];
  expect(await useTogether(installCopy(OWN_COPY.version))).toEqual({
    "a tool that is called in a run": { value: charged, calls },
    "a tool that a runtime calls": { value: charged, calls },
    "a tool inside a tool": { value: charged, calls: ["outer success", "charge success"] },
    "the context of a running tool": { value: { hasKey: true }, calls: ["looks success"] },
    "whether a tool needs approval": { value: { needsApproval: true }, calls: ["asks pending"] },
    "an approval in an AI SDK loop": { value: { requests: 1 }, calls: ["asks pending"] },
    "a workflow": { value: charged, calls },
    "the JSX of a workflow": { value: charged, calls },
    "a component of a workflow": { value: charged, calls },
    "a runtime for a workflow": { value: charged, calls },
    "a runtime for an agent": { value: { content: "Done." }, calls },
    "an agent inside a tool": {
      value: { content: "Done." },
      calls: ["outer success", "charge success", "charge success"],
    },
    "a recorded model": { value: { content: [{ type: "text", text: "Hello." }] }, calls: [] },
    "a registered tool": { value: charged, calls: ["registered success"] },
    "an error": { value: { isOwn: true }, calls: [] },
  });
});

test("rule 34: copies of two versions refuse each other by name, and nothing is run", async () => {
  const folder = installCopy("9.9.9");
  const { "an error": error, ...results } = await useTogether(folder);
  expect(error).toEqual({ value: { isOwn: true }, calls: [] });
  expect(Object.keys(results)).toHaveLength(14);
  for (const [name, { code, message }] of Object.entries(results)) {
    expect(code, name).toBe("TOOL_PACKAGE_CONFLICT");
    for (const part of [OWN_COPY.version, OWN_COPY.path, "9.9.9", folder])
      expect(message, name).toContain(part);
  }
});

test("copies are identified by the version of the package", () => {
  const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string };
  expect(OWN_COPY.version).toBe(version);
});
