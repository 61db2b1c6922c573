import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
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
import { protectPaths } from "../protection/refuse-protected.ts";
import { asOrdinaryUser } from "../../../test/sandbox/files-as-ordinary-user.ts";
import { writeTextFile } from "./write-text-file.ts";

let base = "";
let root = "";
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "write-")));
  root = join(base, "root");
  mkdirSync(root);
});
afterEach(() => rmSync(base, { recursive: true }));

const write = (path: string, content = "new", isProtected?: ReturnType<typeof protectPaths>) =>
  writeTextFile({ rootDir: root, path, content, maxBytes: 1000, isProtected });

describe("writeTextFile", () => {
  it("leaves the other names of a hard link as they are", async () => {
    writeFileSync(join(base, "outside"), "old");
    linkSync(join(base, "outside"), join(root, "f"));
    await write("f");
    expect(readFileSync(join(base, "outside"), "utf8")).toBe("old");
    expect(readFileSync(join(root, "f"), "utf8")).toBe("new");
  });

  it("does not change files that git or Toolwright would obey through a link elsewhere in the root", async () => {
    const put = (path: string): void => writeFileSync(join(root, path), "old", { mode: 0o755 });
    for (const folder of ["sub/.git/hooks", "named/.git", "scripts", "husky", "state", "deep/app"])
      mkdirSync(join(root, folder), { recursive: true });
    for (const path of ["scripts/hook", "scripts/settings", "scripts/own.ts", "scripts/free"]) put(path);
    const link = (target: string, path: string): void => symlinkSync(join(root, target), join(root, path));
    link("scripts/hook", "sub/.git/hooks/pre-commit");
    link("scripts/later", "sub/.git/hooks/post-commit");
    link("scripts/settings", "sub/.git/config");
    link("scripts/own.ts", "deep/app/toolwright.config.ts");
    link("state", "deep/app/.toolwright");
    writeFileSync(join(root, "named/.git/config"), "[core]\n\thooksPath = ../husky\n");
    const refused = { code: "TOOL_PATH_PROTECTED" };
    for (const name of ["hook", "later", "settings", "own.ts"])
      await expect(write(`scripts/${name}`), name).rejects.toMatchObject(refused);
    for (const path of ["state/x", "husky/pre-commit"])
      await expect(write(path), path).rejects.toMatchObject(refused);
    await write("scripts/free");
    link("scripts/free", "sub/.git/hooks/pre-push");
    // On a busy machine the last scan may count for a moment.
    const codeOfWrite = (): Promise<unknown> =>
      write("scripts/free").catch(({ code }: { code: string }) => code);
    await expect.poll(codeOfWrite).toBe(refused.code);
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
  ])("writes nothing to a folder that is %s during the write", async (_, change) => {
    for (const folder of ["free", "repo/.git"]) mkdirSync(join(root, folder), { recursive: true });
    for (const name of ["config", "pre-commit"])
      writeFileSync(join(root, "free", name), "old", { mode: 0o755 });
    const written = Promise.allSettled([write("free/config"), write("free/pre-commit")]);
    change();
    const [config] = await written;
    expect(config).toMatchObject({ status: "rejected", reason: { effect: "none" } });
    const folder = existsSync(join(root, "free")) ? "free" : "repo/.git/hooks";
    expect(readFileSync(join(root, folder, "config"), "utf8")).toBe("old");
    if (folder !== "free") expect(readFileSync(join(root, folder, "pre-commit"), "utf8")).toBe("old");
    expect(readdirSync(join(root, folder)).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });

  it("leaves nothing but the file", async () => {
    await write("a/f");
    await write("a/f", "newer");
    expect(readdirSync(join(root, "a"))).toEqual(["f"]);
  });

  it("leaves no temporary file when the rename fails", async () => {
    // The folder is created after the check.
    const isProtected = (): boolean => {
      if (readdirSync(root).length === 0) mkdirSync(join(root, "f"));
      return false;
    };
    await expect(write("f", "x", isProtected)).rejects.toMatchObject({
      code: "TOOL_NOT_A_FILE",
      effect: "none",
    });
    expect(readdirSync(root)).toEqual(["f"]);
  });

  it("lets writes of one file happen in the order they were asked for", async () => {
    await Promise.all(Array.from({ length: 20 }, (_, index) => write("f", String(index))));
    expect(readFileSync(join(root, "f"), "utf8")).toBe("19");
  });

  it.runIf(process.getuid?.() === 0)("keeps the owner", async () => {
    writeFileSync(join(root, "f"), "old");
    chownSync(join(root, "f"), 1234, 4321);
    await write("f");
    expect(statSync(join(root, "f"))).toMatchObject({ uid: 1234, gid: 4321 });
  });

  it.runIf(process.platform === "linux")("keeps extended attributes and the access list", async () => {
    writeFileSync(join(root, "f"), "old", { mode: 0o640 });
    // Entries: owner rw-, user 1234 rwx, group r--, mask rwx, others ---. The mask then shows as the group's mode.
    const list = "0200000001000600ffffffff02000700d204000004000400ffffffff10000700ffffffff20000000ffffffff";
    const python = (text: string): string =>
      execFileSync("python3", ["-c", `import os; f=${JSON.stringify(join(root, "f"))}; ${text}`], {
        encoding: "utf8",
      });
    const entries = (): string =>
      python(`print(os.getxattr(f,"user.note").decode(), os.getxattr(f,"system.posix_acl_access").hex())`);
    python(
      `os.setxattr(f,"user.note",b"kept"); os.setxattr(f,"system.posix_acl_access",bytes.fromhex("${list}"))`,
    );
    const before = entries();
    expect(before).toContain("kept");
    const { mode } = statSync(join(root, "f"));
    await write("f");
    expect(readFileSync(join(root, "f"), "utf8")).toBe("new");
    expect(entries()).toBe(before);
    expect(statSync(join(root, "f")).mode).toBe(mode);
  });

  it("drops the set-user-id bit, as every write does", async () => {
    writeFileSync(join(root, "f"), "old");
    chmodSync(join(root, "f"), 0o4755);
    await write("f");
    expect(statSync(join(root, "f")).mode & 0o7777).toBe(0o755);
  });

  it("does not replace a file or write into a folder without the right to", async () => {
    writeFileSync(join(root, "f"), "old", { mode: 0o444 });
    mkdirSync(join(root, "closed"), { mode: 0o555 });
    if (process.getuid?.() === 0) {
      for (const path of [base, root, join(root, "f"), join(root, "closed")]) chownSync(path, 65_534, 65_534);
    }
    await asOrdinaryUser(async () => {
      for (const path of ["f", "closed/g", "closed/d/g"]) {
        await expect(write(path)).rejects.toMatchObject({ code: "TOOL_PERMISSION_DENIED", effect: "none" });
      }
    });
    expect(readFileSync(join(root, "f"), "utf8")).toBe("old");
    expect(readdirSync(join(root, "closed"))).toEqual([]);
  });

  it.runIf(process.platform === "linux")("leaves nothing behind on a full disk", async ({ skip }) => {
    try {
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=64k", "none", root], { stdio: "ignore" });
    } catch {
      skip("Only root can mount a small disk; the code itself is tested in file-error.test.ts.");
    }
    try {
      const content = "x".repeat(100_000);
      const options = { rootDir: root, content, maxBytes: 1e6 };
      await writeTextFile({ ...options, path: "f", content: "old" });
      for (const path of ["f", "a/b/c"]) {
        const writing = writeTextFile({ ...options, path });
        await expect(writing).rejects.toMatchObject({ code: "TOOL_DISK_FULL", effect: "none" });
      }
      expect(readdirSync(root)).toEqual(["f"]);
      expect(readFileSync(join(root, "f"), "utf8")).toBe("old");
    } finally {
      execFileSync("umount", [root]);
    }
  });
});

describe("protected paths", () => {
  it("protects the store's files and the files that SQLite keeps next to them", async () => {
    const isProtected = protectPaths([join(root, "app.db")]);
    for (const path of ["app.db", "app.db-wal", "app.db-shm", "app.db-journal", "APP.db", "./x/../app.db"]) {
      await expect(write(path, "", isProtected)).rejects.toMatchObject({ code: "TOOL_PATH_PROTECTED" });
    }
    await write("app.db.bak", "", isProtected);
    await write("new/app.db", "", isProtected);
    expect(readdirSync(root).toSorted()).toEqual(["app.db.bak", "new"]);
  });

  it("protects the store behind links, and the file that the store's path leads to", async () => {
    mkdirSync(join(root, "data"));
    writeFileSync(join(root, "data", "real.db"), "");
    symlinkSync("data/real.db", join(root, "app.db"));
    symlinkSync("data", join(root, "alias"));
    const isProtected = protectPaths([join(root, "app.db")]);
    for (const path of ["app.db", "data/real.db", "alias/real.db"]) {
      await expect(write(path, "", isProtected)).rejects.toMatchObject({ code: "TOOL_PATH_PROTECTED" });
    }
  });

  it("protects a store that is named through another path to the same folder", async () => {
    mkdirSync(join(root, "data"));
    symlinkSync(root, join(base, "other"));
    const isProtected = protectPaths([join(base, "other", "data", "app.db")]);
    await expect(write("data/app.db", "", isProtected)).rejects.toMatchObject({
      code: "TOOL_PATH_PROTECTED",
    });
  });

  it("makes no folder on the way to a protected path", async () => {
    for (const path of [".git/hooks/a/b", ".toolwright/a/b", "a/b/toolwright.config.ts"]) {
      await expect(write(path)).rejects.toMatchObject({ code: "TOOL_PATH_PROTECTED" });
    }
    expect(readdirSync(root)).toEqual([]);
  });

  it("protects the folder of hooks by its identity", async () => {
    mkdirSync(join(root, ".git"));
    mkdirSync(join(root, "husky", "deep"), { recursive: true });
    symlinkSync("../husky", join(root, ".git", "hooks"));
    for (const path of ["husky/pre-commit", "husky/deep/x", "husky/new/x"]) {
      await expect(write(path)).rejects.toMatchObject({ code: "TOOL_PATH_PROTECTED" });
    }
    renameSync(join(root, ".git", "hooks"), join(root, "away"));
    await write("husky/pre-commit");
  });
});
