/**
 * Attacks on snapshots by an agent that can write everything in the root. Each attack has its own repository and a
 * folder next to the root that must stay as it is; it returns what it found. Run as a program, it prints the tier and what
 * the named attacks found, or all of them, so that a test can run it as another user.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { deflateSync } from "node:zlib";
import { ToolwrightError } from "../../../src/errors.ts";
import type { IsolationMode } from "../../../src/sandbox/tiers/isolation-tier.ts";
import { describeIsolation } from "../../../src/sandbox/tiers/isolation.ts";
import { listGitSnapshots } from "../../../src/snapshot/list-git-snapshots.ts";
import { restoreGitSnapshot } from "../../../src/snapshot/restore-git-snapshot.ts";
import { takeGitSnapshot } from "../../../src/snapshot/take-git-snapshot.ts";
import { createRepository, type TestRepository } from "../../sandbox/snapshot-repository.ts";

interface Attacked extends TestRepository {
  /** The folder next to the root: it holds a secret, and nothing may be added. */
  readonly out: string;
  take(seq: number): Promise<string>;
  restore(seq: number): Promise<string>;
  /** Whether any object of the repository holds the text. */
  holds(text: string): boolean;
}

const SECRET = "OUTSIDE-SECRET";
/** Set to `auto` by hand on a machine whose best tier is a weaker one. */
const isolation = (process.env["SNAPSHOT_ISOLATION"] ?? "require") as IsolationMode;
const RACE_ROUNDS = Number(process.env["SNAPSHOT_RACE_ROUNDS"] ?? 6);

export const ATTACKS: Readonly<Record<string, (place: Attacked) => Promise<unknown>>> = {
  "a folder exchanged for a link while snapshots are taken": async (place) => {
    place.write("d/f.txt", "inside\n");
    symlinkSync(place.out, join(place.root, "dl"));
    place.write("f.txt", "inside\n");
    symlinkSync(join(place.out, "f.txt"), join(place.root, "fl"));
    await using _ = await exchange([
      [join(place.root, "d"), join(place.root, "dl")],
      [join(place.root, "f.txt"), join(place.root, "fl")],
    ]);
    for (let seq = 1; seq <= RACE_ROUNDS; seq += 1) await place.take(seq);
    return { leaked: place.holds(SECRET) };
  },
  "a folder exchanged for a link while a snapshot is restored": async (place) => {
    place.write("d/f.txt", "inside\n");
    await place.take(1);
    for (let round = 0; round < RACE_ROUNDS; round += 1) {
      rmSync(join(place.root, "d"), { recursive: true, force: true });
      rmSync(join(place.root, "dl"), { recursive: true, force: true });
      place.write("d/f.txt", "changed\n");
      place.write("d/added.txt", "added\n");
      symlinkSync(place.out, join(place.root, "dl"));
      await using _ = await exchange([[join(place.root, "d"), join(place.root, "dl")]]);
      await place.restore(1);
    }
    return { leaked: place.holds(SECRET) };
  },
  "the object folder as a link": async (place) => {
    const objects = join(place.root, ".git/objects");
    renameSync(objects, join(place.out, "objects"));
    symlinkSync(join(place.out, "objects"), objects);
    const before = listed(place.out);
    const taken = await place.take(1);
    return { taken, isSame: listed(place.out) === before };
  },
  "every folder of objects as a link": async (place) => {
    const objects = join(place.root, ".git/objects");
    place.git(["gc", "-q"]);
    for (let code = 0; code < 256; code += 1) {
      const folder = join(objects, code.toString(16).padStart(2, "0"));
      rmSync(folder, { recursive: true, force: true });
      symlinkSync(place.out, folder);
    }
    place.write("a.txt", "changed\n");
    const before = listed(place.out);
    await place.take(1);
    return { isSame: listed(place.out) === before };
  },
  "the folders of refs as links": async (place) => {
    mkdirSync(join(place.out, "refs"));
    symlinkSync(join(place.out, "refs"), join(place.root, ".git/refs/toolwright"));
    const first = await place.take(1);
    rmSync(join(place.root, ".git/refs/toolwright"));
    rmSync(join(place.root, ".git/refs"), { recursive: true });
    symlinkSync(join(place.out, "refs"), join(place.root, ".git/refs"));
    const second = await place.take(2);
    return { first, second, made: readdirSync(join(place.out, "refs")) };
  },
  "files of the git folder as links": async (place) => {
    for (const name of ["info/exclude", "toolwright-index", "packed-refs", "refs/heads/main", "index"]) {
      rmSync(join(place.root, ".git", name), { force: true });
      symlinkSync(join(place.out, "f.txt"), join(place.root, ".git", name));
    }
    place.write(SECRET, "named like a line of the file outside\n");
    await place.take(1);
    await place.restore(1);
    return { secret: readFileSync(join(place.out, "f.txt"), "utf8") };
  },
  ".git as a link, or as a file, that leads to another repository": async (place) => {
    using other = createRepository();
    const before = other.git(["for-each-ref"]);
    rmSync(join(place.root, ".git"), { recursive: true });
    symlinkSync(join(other.root, ".git"), join(place.root, ".git"));
    const link = await place.take(1);
    rmSync(join(place.root, ".git"));
    place.write(".git", `gitdir: ${join(other.root, ".git")}\n`);
    const file = await place.take(1);
    rmSync(join(place.root, ".git"));
    place.write(".git/HEAD", "ref: refs/heads/main\n");
    place.write(".git/commondir", `${join(other.root, ".git")}\n`);
    const common = await place.take(1);
    return { link, file, common, isSame: other.git(["for-each-ref"]) === before };
  },
  "objects of another repository as alternates": async (place) => {
    using other = createRepository();
    other.write("secret.txt", SECRET);
    other.git(["add", "-A"]);
    other.git(["commit", "-qm", "secret"]);
    appendFileSync(join(place.root, ".git/objects/info/alternates"), `${join(other.root, ".git/objects")}\n`);
    place.git(["update-ref", "refs/heads/main", other.git(["rev-parse", "HEAD"])]);
    const taken = await place.take(1);
    rmSync(join(place.root, ".git/objects/info/alternates"));
    return { taken, leaked: place.holds(SECRET) };
  },
  "a repository in the root whose work tree is outside": async (place) => {
    place.git(["init", "-q", "sub"]);
    place.write("sub/own.txt", "own\n");
    place.git(["-C", "sub", "add", "own.txt"]);
    place.git(["-C", "sub", "commit", "-qm", "own"]);
    place.git(["-C", "sub", "config", "core.worktree", place.out]);
    const before = listed(place.out);
    const taken = await place.take(1);
    place.write("a.txt", "later\n");
    const restored = await place.restore(1);
    return { taken, restored, leaked: place.holds(SECRET), isSame: listed(place.out) === before };
  },
  "the repository's own work tree outside": async (place) => {
    place.git(["config", "core.worktree", place.out]);
    const before = listed(place.out);
    const taken = await place.take(1);
    return { taken, leaked: place.holds(SECRET), isSame: listed(place.out) === before };
  },
  "a forged ref": async (place) => {
    await place.take(1);
    place.write("toolwright.config.ts", "export default { tools: [] };\n");
    place.git(["add", "-A"]);
    place.git(["commit", "-qm", "forged"]);
    for (const seq of [1, 2]) place.git(["update-ref", `refs/toolwright/run/${seq}`, "HEAD"]);
    place.git(["rm", "-q", "toolwright.config.ts"]);
    const listedNow = (await listGitSnapshots({ rootDir: place.root, store: place.store, isolation })).length;
    const unknown = await place.restore(2);
    const known = await place.restore(1);
    return {
      listed: listedNow,
      unknown,
      known,
      made: readdirSync(place.root).includes("toolwright.config.ts"),
    };
  },
  "an object that was rewritten under its old id": async (place) => {
    place.write("a.txt", "kept\n");
    await place.take(1);
    const id = place.git(["rev-parse", "refs/toolwright/run/1:a.txt"]);
    const file = join(place.root, ".git/objects", id.slice(0, 2), id.slice(2));
    rmSync(file);
    writeFileSync(file, deflateSync(Buffer.from("blob 7\0forged\n")));
    place.write("a.txt", "later\n");
    const restored = await place.restore(1);
    return { restored, content: place.read("a.txt") };
  },
  "protected names in a snapshot": async (place) => {
    const names = ["toolwright.config.ts", "sub/toolwright.config.mjs", ".toolwright/notes"];
    for (const name of names) place.write(name, "then\n");
    place.git(["add", "-f", ...names]);
    place.git(["commit", "-qm", "settings"]);
    await place.take(1);
    for (const name of names) place.write(name, "now\n");
    place.write("a.txt", "now\n");
    const changed = await place.restore(1);
    const contents = [...names, "a.txt"].map((name) => place.read(name));
    for (const name of names) rmSync(join(place.root, name));
    const missing = await place.restore(1);
    return { changed, contents, missing, made: names.filter((name) => listed(place.root).includes(name)) };
  },
  "a store next to the files": async (place) => {
    for (const name of ["toolwright.db", "toolwright.db-wal", ".toolwright/other.db"])
      place.write(name, SECRET);
    const taken = await place.take(1);
    return { taken, leaked: place.holds(SECRET) };
  },
  "a kept index that hides a change": async (place) => {
    await place.take(1);
    const cache = join(place.root, ".git/toolwright-index");
    place.write("a.txt", "z\n");
    place.git(["update-index", "--assume-unchanged", "a.txt"]);
    writeFileSync(cache, readFileSync(join(place.root, ".git/index")));
    await place.take(2);
    return { content: place.git(["show", "refs/toolwright/run/2:a.txt"]) };
  },
};

/** Runs one attack, and also reports whether the folder outside is unchanged. */
export async function attack(name: string): Promise<unknown> {
  using repository = createRepository();
  const out = join(repository.base, "out");
  mkdirSync(out);
  writeFileSync(join(out, "f.txt"), `${SECRET}\n`);
  const rootDir = repository.root;
  const said = (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => "done",
      (error: unknown) => (ToolwrightError.is(error) ? error.code : String(error)),
    );
  const found = await ATTACKS[name]?.({
    ...repository,
    out,
    take: (seq) =>
      said(takeGitSnapshot({ store: repository.store, rootDir, name: "run", seq, label: "x", isolation })),
    restore: (seq) => said(restoreGitSnapshot({ rootDir, runId: "run", seq, isolation })),
    holds: (text) =>
      repository.git(["cat-file", "--batch-all-objects", "--batch", "--buffer"]).includes(text),
  });
  return { found, secret: readFileSync(join(out, "f.txt"), "utf8") };
}

function listed(folder: string): string {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).toSorted().join("\n");
}

/**
 * Keeps exchanging each pair until disposed, with renameat2 and RENAME_EXCHANGE, which Node lacks. The pauses leave a core to
 * the snapshots that it races with.
 */
async function exchange(pairs: readonly (readonly [string, string])[]): Promise<AsyncDisposable> {
  const number = process.arch === "arm64" ? "276" : "316";
  const script = `
    my ($number, @names) = @ARGV; $| = 1; print "ready\\n"; my $parent = getppid();
    while (getppid() == $parent) {
      for (my $i = 0; $i < @names; $i += 2) {
        next if rand() < 0.3;
        syscall($number + 0, -100, $names[$i], -100, $names[$i + 1], 2);
      }
      select(undef, undef, undef, 0.00002);
    }`;
  const child = spawn("perl", ["-e", script, number, ...pairs.flat()], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  return {
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL");
      await once(child, "exit");
    },
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const [, , ...named] = process.argv;
  const found: Record<string, unknown> = {};
  for (const name of named.length > 0 ? named : Object.keys(ATTACKS)) found[name] = await attack(name);
  const { tier } = await describeIsolation();
  console.log(JSON.stringify({ tier, found }));
}
