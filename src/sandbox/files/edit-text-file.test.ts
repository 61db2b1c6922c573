import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startCpuClock } from "../../../test/cpu-time.ts";
import { editTextFile } from "./edit-text-file.ts";
import { writeTextFile } from "./write-text-file.ts";

let root = "";
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "edit-")));
});
afterEach(() => rmSync(root, { recursive: true }));

const edit = (path: string, patch: string, maxBytes = 200_000) =>
  editTextFile({ rootDir: root, path, patch, maxBytes });
const textOf = (path: string): string => readFileSync(join(root, path), "utf8");

describe("editTextFile", () => {
  it("keeps the mode, the other names of a hard link, and the link it was reached by", async () => {
    writeFileSync(join(root, "f"), "a\n");
    chmodSync(join(root, "f"), 0o750);
    linkSync(join(root, "f"), join(root, "hard"));
    symlinkSync("f", join(root, "soft"));
    await edit("soft", "--- a/soft\n+++ b/soft\n@@ -1 +1 @@\n-a\n+b\n");
    expect([textOf("f"), textOf("hard"), textOf("soft")]).toEqual(["b\n", "a\n", "b\n"]);
    expect(statSync(join(root, "f")).mode & 0o777).toBe(0o750);
    expect(readdirSync(root).toSorted()).toEqual(["f", "hard", "soft"]);
  });

  it("applies all of many edits of one file at once", async () => {
    const lines = Array.from({ length: 40 }, (_, index) => `line ${index}`);
    writeFileSync(join(root, "f"), `${lines.join("\n")}\n`);
    symlinkSync("f", join(root, "l"));
    await Promise.all(
      lines.map((line, index) =>
        edit(index % 2 === 0 ? "f" : "l", `@@ -${index + 1} +${index + 1} @@\n-${line}\n+${line}!\n`),
      ),
    );
    expect(textOf("f")).toBe(`${lines.join("!\n")}!\n`);
  });

  // A command can do this in parallel, and its own check for repositories may be over before the rename.
  it.each([
    ["moved into a repository", () => renameSync(join(root, "free"), join(root, "repo/.git/hooks"))],
    [
      "made a repository",
      () => {
        for (const name of ["objects", "refs"]) mkdirSync(join(root, "free", name));
        writeFileSync(join(root, "free/HEAD"), "ref: refs/heads/main\n");
      },
    ],
  ])("changes nothing in a folder that is %s during the edit", async (_, change) => {
    for (const folder of ["free", "repo/.git"]) mkdirSync(join(root, folder), { recursive: true });
    for (const name of ["config", "pre-commit"])
      writeFileSync(join(root, "free", name), "old\n", { mode: 0o755 });
    const patch = "@@ -1 +1 @@\n-old\n+new\n";
    const edited = Promise.allSettled([edit("free/config", patch), edit("free/pre-commit", patch)]);
    change();
    const [config] = await edited;
    expect(config).toMatchObject({ status: "rejected", reason: { effect: "none" } });
    const folder = existsSync(join(root, "free")) ? "free" : "repo/.git/hooks";
    expect(textOf(`${folder}/config`)).toBe("old\n");
    if (folder !== "free") expect(textOf(`${folder}/pre-commit`)).toBe("old\n");
    expect(readdirSync(join(root, folder)).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });

  it("waits for a write of the same file that was asked for before", async () => {
    writeFileSync(join(root, "f"), "a\n");
    await Promise.all([
      writeTextFile({ rootDir: root, path: "f", content: "b\n", maxBytes: 100 }),
      edit("f", "@@ -1 +1 @@\n-b\n+c\n"),
    ]);
    expect(textOf("f")).toBe("c\n");
  });

  it("does not overwrite a change that another process made in the meantime", async () => {
    writeFileSync(join(root, "f"), "a\n");
    // The edit reads in its first turn and waits for the disk, then this comes.
    const pending = edit("f", "@@ -1 +1 @@\n-a\n+b\n");
    await Promise.resolve();
    await Promise.resolve();
    await Promise.resolve();
    writeFileSync(join(root, "f"), "theirs\n");
    await expect(pending).rejects.toMatchObject({ code: "TOOL_PATCH_FAILED", effect: "none" });
    expect(textOf("f")).toBe("theirs\n");
    expect(readdirSync(root)).toEqual(["f"]);
  });

  it("shows the nearest lines in the hint", async () => {
    writeFileSync(join(root, "f"), `${"x\n".repeat(50)}function greet(name) {\n  return "Hi " + name;\n}\n`);
    const patch =
      '@@ -3,3 +3,3 @@\n function greet(name) {\n-  return "Hello " + name;\n+  return name;\n }\n';
    await expect(edit("f", patch)).rejects.toMatchObject({
      code: "TOOL_PATCH_FAILED",
      message:
        'Failed to apply patch: hunk 1 does not match "f" at line 3 or anywhere after the previous hunk.',
      hint: expect.stringContaining('52: "  return \\"Hi \\" + name;"'),
    });
    await expect(edit("f", patch)).rejects.toMatchObject({
      hint: expect.stringContaining('"  return \\"Hello \\" + name;" for line 52'),
    });
  });

  it("patches a file of ten megabytes in well under a second", async () => {
    const lines = Array.from(
      { length: 500_000 },
      (_, index) => `line number ${String(index).padStart(7, "0")}`,
    );
    writeFileSync(join(root, "f"), `${lines.join("\n")}\n`);
    const cpuMs = startCpuClock();
    await edit("f", `@@ -7,2 +7,2 @@\n ${lines[400_000]}\n-${lines[400_001]}\n+changed\n`, 20_000_000);
    expect(cpuMs()).toBeLessThan(5000);
    expect(textOf("f").split("\n")[400_001]).toBe("changed");
  });
});
