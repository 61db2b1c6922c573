import {
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openLeaf } from "./open-file.ts";
import { readTextFile } from "./read-text-file.ts";
import { walk } from "./walk.ts";
import { statLeaf, writeTextFile } from "./write-text-file.ts";

let base = "";
let root = "";
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "walk-")));
  root = join(base, "root");
  mkdirSync(join(root, "a", "b"), { recursive: true });
  writeFileSync(join(root, "a", "b", "f"), "text");
});
afterEach(() => rmSync(base, { recursive: true }));

describe("walk", () => {
  it("reports the real path behind links", () => {
    symlinkSync("a/b", join(root, "l"));
    const walked = walk({ rootDir: root, path: "l/f", leaf: statLeaf });
    expect(walked).toMatchObject({
      realPath: join(root, "a", "b", "f"),
      relativePath: "l/f",
      shown: '"l/f"',
    });
    walked.close();
  });

  it("takes both spellings of a root that is a link", async () => {
    const link = join(base, "link");
    symlinkSync(root, link);
    for (const path of [join(root, "a/b/f"), join(link, "a/b/f"), "a/b/f"]) {
      expect(await readTextFile({ rootDir: link, path, maxBytes: 9 })).toBe("text");
    }
    symlinkSync(join(link, "a/b/f"), join(root, "l"));
    expect(await readTextFile({ rootDir: link, path: "l", maxBytes: 9 })).toBe("text");
  });

  it("takes a root that is relative to the working directory", async () => {
    expect(await readTextFile({ rootDir: "src/../src", path: "errors.ts", maxBytes: 1e6 })).toContain(
      "ERROR_CODES",
    );
  });

  it("stays in the folder that it opened when that is swapped for a link", () => {
    mkdirSync(join(base, "out"));
    const walked = walk({ rootDir: root, path: "a/b/f", leaf: statLeaf });
    renameSync(join(root, "a"), join(root, "moved"));
    symlinkSync(join(base, "out"), join(root, "a"));
    writeFileSync(`${walked.directory.base}/g`, "");
    walked.close();
    expect(existsSync(join(root, "moved", "b", "g"))).toBe(process.platform === "linux");
    expect(readdirSync(join(base, "out"))).toEqual([]);
  });

  it("looks again when a link is replaced while it is read", () => {
    let visits = 0;
    const walked = walk({
      rootDir: root,
      path: "a/b/f",
      leaf: (directory, name, strategy) => {
        visits += 1;
        if (visits > 1) return openLeaf(directory, name, strategy);
        // Claims a link where there is none, as if it had been swapped back.
        symlinkSync("f", join(root, "a", "b", "tmp"));
        const link = openLeaf(directory, "tmp", strategy);
        rmSync(join(root, "a", "b", "tmp"));
        return link;
      },
    });
    expect(visits).toBe(2);
    if (typeof walked.leaf === "number") closeSync(walked.leaf);
    walked.close();
  });

  it("never leaves a descriptor open", async () => {
    const count = (): number => readdirSync("/dev/fd").length;
    symlinkSync("../../..", join(root, "a", "b", "up"));
    symlinkSync("loop", join(root, "loop"));
    const before = count();
    for (const path of ["a/b/f", "a/b/f/x", "a/b/no", "a/b", "a/b/up/x", "loop", "..", "a/no/x"]) {
      await readTextFile({ rootDir: root, path, maxBytes: 2 }).catch(() => undefined);
      await writeTextFile({ rootDir: root, path, content: "", maxBytes: 2 }).catch(() => undefined);
    }
    expect(count()).toBe(before);
  });

  it("makes missing folders, and removes them when a later step fails", async () => {
    await writeTextFile({ rootDir: root, path: "x/y/z", content: "1", maxBytes: 9 });
    expect(readFileSync(join(root, "x/y/z"), "utf8")).toBe("1");
    const refuse = (): never => {
      throw new Error("no");
    };
    await expect(
      writeTextFile({
        rootDir: root,
        path: "n/m/f",
        content: "",
        maxBytes: 9,
        isProtected: ({ directory }) => (directory === undefined ? false : refuse()),
      }),
    ).rejects.toThrow("no");
    expect(existsSync(join(root, "n"))).toBe(false);
  });

  it("does not walk for longer than it may through links that lead up and down", async () => {
    symlinkSync("a/../".repeat(800) + "a/b/f", join(root, "l"));
    expect(await readTextFile({ rootDir: root, path: "l", maxBytes: 9 })).toBe("text");
    expect(lstatSync(join(root, "l")).isSymbolicLink()).toBe(true);
  });
});
