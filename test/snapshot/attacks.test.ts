/** Snapshots of a root in which an agent has written everything it can: as this user, and as an ordinary one. */
import { execFile } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { amount, IS_EXHAUSTIVE } from "../amount.ts";
import { publicNode } from "../public-root.ts";
import { OTHER_USER, quickStart } from "../quick-start.ts";
import { denyNamespaces } from "../sandbox/deny-namespaces.ts";
import { pathWithout } from "../sandbox/tier-agent.ts";

const USERS: readonly (readonly [user: string, prefix: readonly string[]])[] =
  process.getuid?.() === 0
    ? [
        ["root", []],
        [
          "an ordinary user",
          ["/usr/bin/setpriv", `--reuid=${OTHER_USER}`, `--regid=${OTHER_USER}`, "--clear-groups", "--"],
        ],
      ]
    : [["an ordinary user", []]];

type Found = Readonly<Record<string, { found: unknown; secret: string }>>;

interface Situation {
  readonly prefix: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** All attacks if empty. */
  readonly named?: readonly string[];
}

async function attack({ prefix, env, named = [] }: Situation): Promise<{
  tier: string;
  found: Found;
}> {
  const root = inject("publicRoot");
  const program = join(root, "test/snapshot/programs/attacks.ts");
  const argv = [
    ...prefix,
    publicNode(root),
    "--experimental-strip-types",
    "--no-warnings",
    program,
    ...named,
  ];
  const { stdout } = await promisify(execFile)(argv[0] ?? "", argv.slice(1), {
    env: {
      PATH: "/usr/local/bin:/usr/bin:/bin",
      HOME: "/nonexistent",
      LANG: "C.UTF-8",
      ...quickStart(prefix.includes(`--reuid=${OTHER_USER}`) ? "other" : "own", root),
      SNAPSHOT_RACE_ROUNDS: `${amount(3, 6)}`,
      ...env,
    },
    cwd: "/tmp",
  });
  return JSON.parse(stdout) as { tier: string; found: Found };
}

/**
 * One attack for each thing that a tier does for snapshots, with its result: git writes nothing outside, reads nothing
 * outside, also while folders are exchanged, and can still store and read objects. Without a sandbox, the first two give
 * different results. Every night all attacks run in each tier.
 */
const IN_EACH_TIER = {
  "the object folder as a link": { taken: "TOOL_COMMAND_FAILED", isSame: true },
  "objects of another repository as alternates": { taken: "TOOL_COMMAND_FAILED", leaked: false },
  "a store next to the files": { taken: "done", leaked: false },
  "a folder exchanged for a link while a snapshot is restored": { leaked: false },
  "an object that was rewritten under its old id": { restored: "TOOL_PATH_PROTECTED", content: "later\n" },
};

describe.runIf(process.platform === "linux").each(IS_EXHAUSTIVE ? USERS : USERS.slice(-1))(
  "in other tiers, by %s",
  (_user, prefix) => {
    let base = "";
    beforeAll(() => {
      base = mkdtempSync(join(tmpdir(), "toolwright-programs-"));
      chmodSync(base, 0o755);
      return () => rmSync(base, { recursive: true, force: true });
    });
    const holdsIn = async (expected: string, situation: Situation): Promise<void> => {
      const named = IS_EXHAUSTIVE ? [] : Object.keys(IN_EACH_TIER);
      const { tier, found } = await attack({ ...situation, named });
      expect(tier).toBe(expected);
      for (const [name, result] of Object.entries(IN_EACH_TIER)) expect(found[name]?.found).toEqual(result);
      expect([...new Set(Object.values(found).map(({ secret }) => secret))]).toEqual(["OUTSIDE-SECRET\n"]);
      expect(JSON.stringify(found)).not.toMatch(/"leaked":true|"isSame":false|"made":(?:true|\[")/);
    };

    it("changes and stores nothing outside in namespaces made by Perl", { timeout: 300_000 }, () =>
      holdsIn("unshare", { prefix, env: { PATH: pathWithout({ base }, ["bwrap"]) } }),
    );

    it("changes and stores nothing outside under Landlock", { timeout: 300_000 }, () =>
      holdsIn("landlock", {
        prefix: [...prefix, ...denyNamespaces(join(base, "filter"))],
        env: { SNAPSHOT_ISOLATION: "auto" },
      }),
    );
  },
);

describe.runIf(process.platform === "linux").each(USERS)("attacked by %s", (_user, prefix) => {
  let found: Found;

  beforeAll(async () => {
    ({ found } = await attack({ prefix }));
  }, 300_000);

  const after = (name: string): unknown => found[name]?.found;

  it("leaves every file outside unchanged", () => {
    expect(Object.values(found).map(({ secret }) => secret)).toEqual(
      Object.keys(found).map(() => "OUTSIDE-SECRET\n"),
    );
  });

  it("stores no file from outside, even if files are replaced by links meanwhile", () => {
    expect(after("a folder exchanged for a link while snapshots are taken")).toEqual({ leaked: false });
    expect(after("a folder exchanged for a link while a snapshot is restored")).toEqual({ leaked: false });
  });

  it("writes no object and no ref through a link", () => {
    expect(after("the object folder as a link")).toEqual({ taken: "TOOL_COMMAND_FAILED", isSame: true });
    expect(after("every folder of objects as a link")).toEqual({ isSame: true });
    expect(after("the folders of refs as links")).toMatchObject({ made: [] });
    expect(after("files of the git folder as links")).toEqual({ secret: "OUTSIDE-SECRET\n" });
  });

  it("uses only the repository of the folder", () => {
    expect(after(".git as a link, or as a file, that leads to another repository")).toEqual({
      link: "TOOL_PATH_PROTECTED",
      file: "TOOL_PATH_PROTECTED",
      common: "TOOL_PATH_PROTECTED",
      isSame: true,
    });
    expect(after("objects of another repository as alternates")).toEqual({
      taken: "TOOL_COMMAND_FAILED",
      leaked: false,
    });
  });

  it("follows no work tree that settings place outside", () => {
    expect(after("a repository in the root whose work tree is outside")).toEqual({
      taken: "done",
      restored: "done",
      leaked: false,
      isSame: true,
    });
    expect(after("the repository's own work tree outside")).toMatchObject({ leaked: false, isSame: true });
  });

  it("restores only snapshots in the store, and lists nothing else", () => {
    expect(after("a forged ref")).toEqual({
      listed: 0,
      unknown: "TOOL_FILE_NOT_FOUND",
      known: "done",
      made: false,
    });
  });

  it("refuses an object whose content was changed", () => {
    expect(after("an object that was rewritten under its old id")).toEqual({
      restored: "TOOL_PATH_PROTECTED",
      content: "later\n",
    });
  });

  it("changes, restores and deletes no protected file", () => {
    expect(after("protected names in a snapshot")).toEqual({
      changed: "done",
      contents: ["now\n", "now\n", "now\n", "a\n"],
      missing: "done",
      made: [],
    });
  });

  it("holds no file of a store", () => {
    expect(after("a store next to the files")).toEqual({ taken: "done", leaked: false });
  });

  it("sees a change that a forged index would hide", () => {
    expect(after("a kept index that hides a change")).toEqual({ content: "z" });
  });
});
