/** Snapshots of a root in which an agent has written everything it can: as this user, and as an ordinary one. */
import { execFile } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { IS_EXHAUSTIVE } from "../amount.ts";
import { publicNode } from "../public-root.ts";
import { denyNamespaces } from "../sandbox/deny-namespaces.ts";
import { pathWithout } from "../sandbox/tier-agent.ts";

const USERS: readonly (readonly [user: string, prefix: readonly string[]])[] =
  process.getuid?.() === 0
    ? [
        ["root", []],
        ["an ordinary user", ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"]],
      ]
    : [["an ordinary user", []]];

type Found = Readonly<Record<string, { found: unknown; secret: string }>>;

async function attack(
  prefix: readonly string[],
  more: Readonly<Record<string, string>> = {},
): Promise<Found> {
  const root = inject("publicRoot");
  const program = join(root, "test/snapshot/programs/attacks.ts");
  const argv = [...prefix, publicNode(root), "--experimental-strip-types", "--no-warnings", program];
  const env = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: "/nonexistent", LANG: "C.UTF-8", ...more };
  const { stdout } = await promisify(execFile)(argv[0] ?? "", argv.slice(1), { env, cwd: "/tmp" });
  return JSON.parse(stdout) as Found;
}

// Every night: the first tier shows how snapshots use a sandbox, and the tests of the tiers that each one holds.
describe.runIf(process.platform === "linux" && IS_EXHAUSTIVE).each(USERS)(
  "in other tiers, by %s",
  (_user, prefix) => {
    let base = "";
    beforeAll(() => {
      base = mkdtempSync(join(tmpdir(), "toolwright-programs-"));
      chmodSync(base, 0o755);
      return () => rmSync(base, { recursive: true, force: true });
    });
    const expectNothing = (found: Found): void => {
      expect([...new Set(Object.values(found).map(({ secret }) => secret))]).toEqual(["OUTSIDE-SECRET\n"]);
      expect(JSON.stringify(found)).not.toMatch(/"leaked":true|"isSame":false|"made":(?:true|\[")/);
    };

    it("changes and stores nothing outside in namespaces made by Perl", { timeout: 300_000 }, async () => {
      expectNothing(await attack(prefix, { PATH: pathWithout({ base }, ["bwrap"]) }));
    });

    it("changes and stores nothing outside under Landlock", { timeout: 300_000 }, async () => {
      const words = denyNamespaces(join(base, "filter"));
      expectNothing(await attack([...prefix, ...words], { SNAPSHOT_ISOLATION: "auto" }));
    });
  },
);

describe.runIf(process.platform === "linux").each(USERS)("attacked by %s", (_user, prefix) => {
  let found: Found;

  beforeAll(async () => {
    found = await attack(prefix);
  }, 300_000);

  const after = (name: string): unknown => found[name]?.found;

  it("leaves every file outside unchanged", () => {
    expect(Object.values(found).map(({ secret }) => secret)).toEqual(
      Object.keys(found).map(() => "OUTSIDE-SECRET\n"),
    );
  });

  it("stores no file from outside, whatever is replaced by a link meanwhile", () => {
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
    expect(after("a store beside the files")).toEqual({ taken: "done", leaked: false });
  });

  it("sees a change that a forged index would hide", () => {
    expect(after("a kept index that hides a change")).toEqual({ content: "z" });
  });
});
