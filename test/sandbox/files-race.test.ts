/**
 * Runs each tool against another process that swaps folders and files for links as fast as it can. Nothing may be
 * read, written or created outside. `FILE_RACE_TRIES` sets the number of tries; the default keeps the suite short.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ToolwrightError } from "../../src/errors.ts";
import { editTextFile } from "../../src/sandbox/files/edit-text-file.ts";
import { readTextFile } from "../../src/sandbox/files/read-text-file.ts";
import { writeTextFile } from "../../src/sandbox/files/write-text-file.ts";
import { amount } from "../amount.ts";

const TRIES = Number(process.env["FILE_RACE_TRIES"] ?? amount(1000, 2000));
const LONGEST_MS = 60_000;
const maxBytes = 1000;

// renameat2(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE), which Node does not have. The attacker
// recreates a link that a write has replaced, so that the race continues.
const ATTACKER = `
my ($number, @rest) = @ARGV;
$| = 1; print "ready\\n";
my $parent = getppid();
while (getppid() == $parent) {
  for (my $i = 0; $i < @rest; $i += 3) {
    my ($one, $other, $target) = @rest[$i .. $i + 2];
    unless (-l $one || -l $other) { unlink $other; symlink $target, $other; }
    next if rand() < 0.3; # else it falls into step with the disk
    syscall($number, -100, $one, -100, $other, 2);
  }
}`;
const PATCHES = [
  ["OUTSIDE", "PWNED"],
  ["inside", "INSIDE"],
  ["INSIDE", "inside"],
].map(([from, to]) => `@@ -1 +1 @@\n-${from}\n+${to}\n`);
const SYSCALL = process.arch === "arm64" ? "276" : "316";

describe.runIf(process.platform === "linux")("a race for the path", () => {
  let base = "";
  let root = "";
  let out = "";
  let attacker: ChildProcess;

  beforeEach(async () => {
    base = realpathSync(mkdtempSync(join(tmpdir(), "files-race-")));
    root = join(base, "root");
    out = join(base, "out");
    for (const folder of [root, out, join(root, "d")]) mkdirSync(folder);
    writeFileSync(join(out, "f.txt"), "OUTSIDE\n");
    writeFileSync(join(root, "d", "f.txt"), "inside\n");
    symlinkSync(out, join(root, "dl"));
    writeFileSync(join(root, "f.txt"), "inside\n");
    symlinkSync(join(out, "f.txt"), join(root, "fl"));
    const swaps = [
      join(root, "d"),
      join(root, "dl"),
      out,
      join(root, "f.txt"),
      join(root, "fl"),
      join(out, "f.txt"),
    ];
    attacker = spawn("perl", ["-e", ATTACKER, SYSCALL, ...swaps], { stdio: ["ignore", "pipe", "inherit"] });
    if (attacker.stdout !== null) await once(attacker.stdout, "data");
  });

  afterEach(async () => {
    attacker.kill("SIGKILL");
    await once(attacker, "exit");
    rmSync(base, { recursive: true, force: true });
  });

  const tools: Record<string, (path: string, round: number) => Promise<string | void>> = {
    read: (path) => readTextFile({ rootDir: root, path, maxBytes }),
    "read of a part": (path) => readTextFile({ rootDir: root, path, maxBytes, limit: 1 }),
    write: (path) => writeTextFile({ rootDir: root, path, content: "inside\n", maxBytes }),
    "write into new folders": (path, round) =>
      writeTextFile({
        rootDir: root,
        path: `${path.replace("f.txt", "n")}${round}/x/f.txt`,
        content: "x",
        maxBytes,
      }),
    edit: (path, round) => editTextFile({ rootDir: root, path, patch: PATCHES[round % 3] ?? "", maxBytes }),
  };

  it.each(Object.keys(tools))("%s never leaves the root", { timeout: 3_600_000 }, async (tool) => {
    let done = 0;
    let refused = 0;
    let escapes = 0;
    const deadline = Date.now() + LONGEST_MS;
    // The race is real only if the tool sees both sides of the swap; the other process may get no CPU time for a while.
    const isNone = (): boolean => done === 0 || refused === 0;
    for (let round = 0; round < TRIES || (isNone() && Date.now() < deadline); round += 1) {
      try {
        const output = await tools[tool]?.(round % 4 < 2 ? "d/f.txt" : "f.txt", round);
        if (output?.includes("OUTSIDE") === true) escapes += 1;
        done += 1;
      } catch (error) {
        if (!ToolwrightError.is(error)) throw error;
        refused += 1;
      }
      if (readdirSync(out).length !== 1 || readFileSync(join(out, "f.txt"), "utf8") !== "OUTSIDE\n")
        escapes += 1;
    }
    console.info(`${tool}: ${done} done, ${refused} refused, ${escapes} escapes`);
    expect(escapes).toBe(0);
    expect(readdirSync(join(base)).toSorted()).toEqual(["out", "root"]);
    expect(done).toBeGreaterThan(0);
    expect(refused).toBeGreaterThan(0);
  });
});
