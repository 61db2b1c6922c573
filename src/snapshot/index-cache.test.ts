import { mkdirSync, readFileSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createRepository, filesOf, type TestRepository } from "../../test/sandbox/snapshot-repository.ts";
import { readIndexHash } from "../store/tables/snapshots.ts";
import { sha256Hex } from "../util/hash.ts";
import { acceptIndex } from "./index-cache.ts";
import { takeGitSnapshot } from "./take-git-snapshot.ts";
import { withRepository } from "./with-repository.ts";

let repository: TestRepository;
let cache: string;
beforeEach(() => {
  repository = createRepository();
  cache = join(repository.root, ".git/toolwright-index");
});
afterEach(() => repository[Symbol.dispose]());

const take = (seq: number) =>
  takeGitSnapshot({ store: repository.store, rootDir: repository.root, name: "run", seq, label: "x" });

describe("the kept index", () => {
  it("hides no change of the same size within one second", async () => {
    const contents = Array.from({ length: 12 }, (_, index) => String.fromCodePoint(97 + index));
    for (const [seq, content] of contents.entries()) {
      repository.write("a.txt", content);
      const { mtime } = statSync(join(repository.root, "sub/b.txt"));
      utimesSync(join(repository.root, "a.txt"), mtime, mtime);
      await take(seq);
    }
    for (const [seq, content] of contents.entries()) {
      expect(repository.git(["show", `refs/toolwright/run/${seq}:a.txt`])).toBe(content);
    }
  });

  it("hides no switch between HEAD's content and another of the same size", async () => {
    for (let seq = 0; seq < 10; seq += 1) {
      repository.write("a.txt", seq % 2 === 0 ? "a\n" : "z\n");
      await take(seq);
      const kept = repository.git(["show", `refs/toolwright/run/${seq}:a.txt`]);
      expect(kept).toBe(seq % 2 === 0 ? "a" : "z");
    }
  });

  it("hides no change that was made within the second of the last snapshot and is examined later", async () => {
    await sleep(1000 - (Date.now() % 1000));
    repository.write("a.txt", "a\n");
    await take(1);
    repository.write("a.txt", "z\n");
    await sleep(1200);
    await take(2);
    expect(repository.git(["show", "refs/toolwright/run/2:a.txt"])).toBe("z");
  });

  it("does not read files that match HEAD", async () => {
    await take(1);
    const stale = await withRepository({
      rootDir: repository.root,
      run: async (found, own) => {
        const { git } = own.reading;
        const hash = await repository.store.read(() => readIndexHash(sha256Hex(found.gitDir)));
        const kept = readFileSync(own.index);
        const differing = async () => {
          await git(["read-tree", "-m", "-i", repository.git(["rev-parse", "HEAD"])]);
          return (await git(["diff-files", "--name-only"])).toString().trim().split("\n").filter(Boolean);
        };
        rmSync(own.index);
        const without = await differing();
        writeFileSync(own.index, kept);
        expect(acceptIndex(own.index, hash)).toBe(true);
        return { without, with: await differing() };
      },
    });
    expect(stale).toEqual({ without: ["a.txt", "sub/b.txt"], with: [] });
  });

  it.each<[string, () => void]>([
    ["damaged", () => writeFileSync(cache, "damaged")],
    ["cut short", () => writeFileSync(cache, readFileSync(cache).subarray(0, 50))],
    ["missing", () => rmSync(cache)],
    ["a folder", () => [rmSync(cache), mkdirSync(cache)]],
    ["a link", () => [rmSync(cache), symlinkSync(join(repository.root, "sub/b.txt"), cache)]],
  ])("does no harm when it is %s", async (_what, spoil) => {
    await take(1);
    spoil();
    repository.write("a.txt", "new\n");
    await take(2);
    expect(repository.git(["show", "refs/toolwright/run/2:a.txt"])).toBe("new");
    expect(filesOf(repository.root)).toEqual({ "a.txt": "new\n", "sub/b.txt": "b\n" });
  });
});
