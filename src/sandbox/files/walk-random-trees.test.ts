/**
 * Compares the walk with the kernel's own on random trees full of links.
 */
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";
import { ToolwrightError } from "../../errors.ts";
import { errnoOf } from "./file-error.ts";
import { readTextFile } from "./read-text-file.ts";
import { writeTextFile } from "./write-text-file.ts";

const NAMES = ["a", "b", "c", "d", "e"];
const CODES: Readonly<Record<string, string>> = {
  ENOENT: "TOOL_FILE_NOT_FOUND",
  ENOTDIR: "TOOL_NOT_A_DIRECTORY",
  ELOOP: "TOOL_PATH_INVALID",
};

type Pick = <T>(list: readonly [T, ...T[]] | readonly T[]) => T;

function picker(seed: number): Pick {
  let state = seed;
  return (list) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    const picked = list[Math.floor((state / 0x80000000) * list.length)];
    if (picked === undefined) throw new Error("Nothing to pick from.");
    return picked;
  };
}

function randomPath(pick: Pick, names: readonly string[]): string {
  return (
    Array.from({ length: pick([1, 2, 3, 4, 5]) }, () => pick([...names, ...names, "..", ".", ""])).join(
      "/",
    ) || "."
  );
}

function growTree(pick: Pick, root: string, out: string): void {
  const folders = [root];
  for (let round = 0; round < 25; round += 1) {
    const path = join(pick(folders), pick(NAMES));
    if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) continue;
    const kind = pick(["folder", "folder", "file", "link", "link"]);
    if (kind === "folder") folders.push(path);
    if (kind === "folder") mkdirSync(path);
    else if (kind === "file") writeFileSync(path, `inside ${path}`);
    else {
      const tail = randomPath(pick, ["..", ...NAMES]);
      symlinkSync(
        pick([
          tail,
          tail,
          `${root}/${tail}`,
          out,
          `${out}/${tail}`,
          `../../root/${tail}`,
          `../root/${tail}`,
          "/",
        ]),
        path,
      );
    }
  }
}

/** The kernel's answer, in the terms of the walk. */
function oracle(root: string, path: string): string {
  const spelled = resolve(root, path);
  if (spelled !== root && !spelled.startsWith(`${root}/`)) return "TOOL_PATH_ESCAPE";
  try {
    const real = realpathSync.native(/(?:^|\/)\.{0,2}$/.test(path) ? `${spelled}/` : spelled);
    if (real !== root && !real.startsWith(`${root}/`)) return "TOOL_PATH_ESCAPE";
    return statSync(real).isFile() ? readFileSync(real, "utf8") : "TOOL_NOT_A_FILE";
  } catch (error) {
    return CODES[errnoOf(error) ?? ""] ?? String(error);
  }
}

async function answerOf(task: Promise<string | void>): Promise<string> {
  try {
    return (await task) ?? "ok";
  } catch (error) {
    if (ToolwrightError.is(error)) return error.code;
    throw error;
  }
}

it("finds the same files as the kernel, and stops where a link leaves the root", async () => {
  const pick = picker(2024);
  for (let tree = 0; tree < 40; tree += 1) {
    const base = realpathSync(mkdtempSync(join(tmpdir(), "trees-")));
    const [root, out] = [join(base, "root"), join(base, "out")];
    for (const folder of [root, out]) mkdirSync(folder);
    writeFileSync(join(out, "a"), "outside");
    growTree(pick, root, out);
    for (let round = 0; round < 50; round += 1) {
      const path = randomPath(pick, NAMES);
      const answer = await answerOf(readTextFile({ rootDir: root, path, maxBytes: 1000 }));
      // A path may end inside, or nowhere, after it went through a link to the outside. That is an escape as well.
      if (answer !== "TOOL_PATH_ESCAPE") expect(answer, `${base} ${path}`).toBe(oracle(root, path));
    }
    for (let round = 0; round < 20; round += 1) {
      const path = randomPath(pick, [...NAMES, "new"]);
      await answerOf(writeTextFile({ rootDir: root, path, content: "inside", maxBytes: 1000 }));
    }
    expect([readdirSync(base), readdirSync(out), readFileSync(join(out, "a"), "utf8")]).toEqual([
      ["out", "root"],
      ["a"],
      "outside",
    ]);
    rmSync(base, { recursive: true });
  }
});
