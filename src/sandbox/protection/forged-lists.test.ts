import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { badPathIn, forgedLists, indexStamps } from "./forged-lists.ts";

let base = "";
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "forged-")));
});
afterEach(() => rmSync(base, { recursive: true }));

const ENV = { HOME: "/nonexistent", PATH: process.env["PATH"], GIT_CONFIG_NOSYSTEM: "1" };
const git = (...args: string[]): string =>
  execFileSync("git", args, { cwd: base, env: ENV, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });

const number = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
const header = (version: number, count: number): Buffer =>
  Buffer.concat([Buffer.from("DIRC"), number(version), number(count)]);
const hash = (size: number): Buffer => Buffer.alloc(size, 1);

/** An entry of version 2 or 3. */
function entry(name: string, { hashBytes = 20, length = name.length, extended = false } = {}): Buffer {
  const flags = Buffer.alloc(extended ? 4 : 2);
  flags.writeUInt16BE(Math.min(length, 0xfff) | (extended ? 0x4000 : 0));
  const bytes = Buffer.concat([Buffer.alloc(40), hash(hashBytes), flags, Buffer.from(name)]);
  return Buffer.concat([bytes, Buffer.alloc(8 - (bytes.length % 8))]);
}
/** An entry of version 4: how much of the name before it is dropped, and what follows. */
const shortEntry = (dropped: number, rest: string): Buffer =>
  Buffer.concat([
    Buffer.alloc(40),
    hash(20),
    Buffer.alloc(2),
    Buffer.from([dropped]),
    Buffer.from(`${rest}\0`),
  ]);
const extension = (name: string, data: Buffer): Buffer =>
  Buffer.concat([Buffer.from(name), number(data.length), data]);
/** The extensions by which threads of git find entries. */
const places = (end: number, parts: readonly (readonly [at: number, count: number])[]): Buffer =>
  Buffer.concat([
    extension("IEOT", Buffer.concat([number(1), ...parts.flatMap((part) => part.map(number))])),
    extension("EOIE", Buffer.concat([number(end), hash(20)])),
  ]);
const index = (version: number, entries: readonly Buffer[], more: Buffer = Buffer.alloc(0)): Buffer =>
  Buffer.concat([header(version, entries.length), ...entries, more, hash(20)]);

describe("paths that git never adds", () => {
  test.each([
    "../victim",
    "a/../../victim",
    "/etc/passwd",
    ".git/hooks/pre-commit",
    "sub/.GIT/config",
    "a//b",
    "./a",
    "sub/.git",
    "..",
  ])("%s is found in every version of the index", (name) => {
    const rest = entry("zzz");
    expect(badPathIn(index(2, [entry("a"), entry(name), rest]), 20)).toBe(name);
    expect(
      badPathIn(index(3, [entry("a", { extended: true }), entry(name, { extended: true }), rest]), 20),
    ).toBe(name);
    expect(badPathIn(index(2, [entry("a", { hashBytes: 32 }), entry(name, { hashBytes: 32 })]), 32)).toBe(
      name,
    );
    const halves = [shortEntry(0, "yx"), shortEntry(2, `${name.slice(0, 1)}x`), shortEntry(1, name.slice(1))];
    expect(badPathIn(index(4, halves), 20)).toBe(name.startsWith("/") ? "/x" : name);
  });

  test("a name that is longer than its entry says is read to its end", () => {
    expect(badPathIn(index(2, [entry("../x", { length: 2 })]), 20)).toBe("../x");
    const long = `${"d/".repeat(3000)}../x`;
    expect(badPathIn(index(2, [entry(long), entry("../x")]), 20)).toBe(long);
  });

  test("entries that only the threads of git read are found", () => {
    const entries = [entry("a"), entry("b")];
    const [second, end] = [12 + 64, 12 + 64 * 2];
    const isFound = (more: Buffer): boolean => badPathIn(index(2, entries, more), 20) !== undefined;
    expect(
      isFound(
        places(end, [
          [12, 1],
          [second, 1],
        ]),
      ),
    ).toBe(false);
    expect(
      isFound(
        places(end, [
          [12, 1],
          [second + 8, 1],
        ]),
      ),
    ).toBe(true);
    expect(isFound(places(end, [[12, 1]]))).toBe(true);
    expect(isFound(places(end + 8, [[12, 2]]))).toBe(true);
    // The first entry of a thread has no name before it.
    const short = [shortEntry(0, "a."), shortEntry(0, "./x")];
    const at = 12 + (short[0]?.length ?? 0);
    const after = at + (short[1]?.length ?? 0);
    expect(badPathIn(index(4, short, places(after, [[12, 2]])), 20)).toBeUndefined();
    expect(
      badPathIn(
        index(
          4,
          short,
          places(after, [
            [12, 1],
            [at, 1],
          ]),
        ),
        20,
      ),
    ).toBeDefined();
  });
});

test("what git itself writes is not forged", () => {
  git("init", "-q", ".");
  for (const folder of ["a", "a/b", "..c", ".gitx", "d.git"]) mkdirSync(join(base, folder));
  for (const name of ["a/b/c", "a/b.", "a-", "..c/x", ".gitx/y", ".gitignore", "d.git/z", "x".repeat(200)])
    writeFileSync(join(base, name), name);
  const read = (): string | undefined => badPathIn(readFileSync(join(base, ".git/index")), 20);
  git("add", ".");
  expect(read()).toBeUndefined();
  git("-c", "index.threads=2", "update-index", "--index-version", "4");
  expect(read()).toBeUndefined();
  git("update-index", "--split-index", "--untracked-cache");
  writeFileSync(join(base, "a/new"), "");
  git("add", "a/new");
  expect(indexStamps(join(base, ".git")).size).toBe(2);
  expect(forgedLists(join(base, ".git"), new Map(), () => false)).toEqual([]);
});

test("a changed index is checked, including its other part and one behind a link", () => {
  git("init", "-q", ".");
  const folder = join(base, ".git");
  writeFileSync(join(folder, "index"), index(2, [entry("../x")]));
  const stamps = indexStamps(folder);
  expect(forgedLists(folder, stamps, () => false)).toEqual([]);
  writeFileSync(join(base, "plain"), index(2, [entry("../y")]));
  symlinkSync("../plain", join(folder, "sharedindex.1"));
  expect(forgedLists(folder, stamps, () => false)).toEqual([{ file: "sharedindex.1", listed: "../y" }]);
  // It would fill the memory, so it is not read.
  truncateSync(join(base, "plain"), 3_000_000_000);
  expect(forgedLists(folder, stamps, () => false)).toEqual([{ file: "sharedindex.1", listed: "too large" }]);
});

test("a conflict that git would copy from outside is found, also behind a link", () => {
  git("init", "-q", ".");
  const folder = join(base, ".git");
  const isHidden = (path: string): boolean => !path.startsWith(`${base}/`);
  const listed = (path: string): unknown => {
    writeFileSync(join(folder, "MERGE_RR"), `${"0".repeat(40)}\tplain\0${"1".repeat(40)}\t${path}\0`);
    return forgedLists(folder, new Map(), isHidden)[0]?.listed;
  };
  symlinkSync("/etc/passwd", join(base, "link"));
  expect(listed("other")).toBeUndefined();
  expect(listed("link")).toBe("link");
  expect(listed("../key")).toBe("../key");
  expect(listed("/etc/passwd")).toBe("/etc/passwd");
  expect(listed(".git/config")).toBe(".git/config");
});
