/** Every attack in every tier, as root and as an ordinary user, in a situation that really selects the tier. */
import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { OTHER_USER } from "../quick-start.ts";
import { createPlace, openListeners, shell, type Listeners, type Place } from "./process-harness.ts";
import { isRoot, pathWithout, runAgent, type Situation, type Told } from "./tier-agent.ts";
import { ATTACKS, LIMITS } from "./tier-attack-cases.ts";

const TIERS: readonly [string, Situation][] = [
  ["bwrap", {}],
  ["unshare", { without: ["bwrap"] }],
  ["landlock", { namespaces: "filtered" }],
];
const CASES = TIERS.flatMap(([tier, situation]) => {
  const users: Situation["user"][] = isRoot ? [undefined, "other"] : [undefined];
  return users.map((user) => [tier, user ?? "the user of the tests", situation, user] as const);
});
const numbers =
  process.arch === "arm64"
    ? { TRUNCATE: 45, PTRACE: 117, WATCHES: 26, WATCH: 27, ATTRIBUTES: 11 }
    : { TRUNCATE: 76, PTRACE: 101, WATCHES: 294, WATCH: 254, ATTRIBUTES: 194 };

/** Work that a command must still be able to do despite the protection. */
const WORK: readonly [string, string, string][] = [
  [
    "write in a folder of the root",
    `echo x > src/new && mkdir -p src/d/e && echo y > src/d/e/f && cat src/new src/d/e/f`,
    "x\ny\n",
  ],
  ["change a file of the root", `echo more >> readme.txt && cat readme.txt`, "text\nmore\n"],
  ["use a folder for temporary files", `f=$(mktemp) && echo t > $f && cat $f`, "t\n"],
  ["open its own streams again", `echo o > /dev/stdout; echo e > /dev/stderr`, "o\ne\n"],
  ["run a program of the root", `./src/run.sh`, "ran\n"],
  ["go on when an orphan of it ends", `(sleep 0.1 &); sleep 0.5; echo works`, "works\n"],
  ["ask git", `git -c safe.directory='*' status --porcelain -uno >/dev/null && echo asked`, "asked\n"],
];

describe.each(CASES)("%s, as %s", (tier, _, situation, user) => {
  let place: Place;
  let listeners: Listeners;
  let told: Told;
  let reached = 0;
  let memory = "";

  beforeAll(async () => {
    place = createPlace();
    listeners = await openListeners();
    await listeners.listenOn(join(place.out, "o.sock"));
    await listeners.listenOn(join(place.root, "r.sock"));
    chmodSync(place.base, 0o755);
    shell(
      `cd "$ROOT"; git init -q .; mkdir -p .git/hooks .toolwright/deep src; echo STORE > .toolwright/store.db; echo STORE > .toolwright/deep/note; ln -s target ../link; echo settings > toolwright.config.ts;
       echo text > readme.txt; printf '#!/bin/sh\\necho ran\\n' > src/run.sh; printf '#!/bin/sh\\necho ran\\n' > "$OUT/program"; chmod +x src/run.sh "$OUT/program";
       mkdir -p "$TOOLS/bin" "$TOOLS/lib/private"; cp /bin/true "$TOOLS/bin/tool"; echo PRIVATE > "$TOOLS/lib/private/key"; chmod 700 "$TOOLS/lib/private"`,
      { ROOT: place.root, OUT: place.out, TOOLS: join(place.base, "tools") },
    );
    if (user === "other") shell(`chown -R ${OTHER_USER}:${OTHER_USER} "$BASE"`, { BASE: place.base });
    writeFileSync(join(place.base, "filter"), "");
    if (user === "other") chownSync(join(place.base, "filter"), 0, 0);
    const before = listeners.hits();
    const made = execFileSync("/usr/bin/ipcmk", ["-M", "64", "-p", "0666"], { encoding: "utf8" });
    memory = /\d+/.exec(made)?.[0] ?? "";
    const scripts = [...ATTACKS, ...WORK, ...LIMITS].map(([, text]) => ({
      text: fill(text, place, listeners).replaceAll("SHM", memory),
    }));
    told = await runAgent({
      place,
      situation: { ...situation, ...(user && { user }) },
      scripts,
      env: {
        AGENT_SECRET: "x",
        PATH: `${join(place.base, "tools/bin")}:${pathWithout(place, situation.without ?? [])}`,
      },
    });
    reached = listeners.hits() - before;
  }, 240_000);
  afterAll(() => {
    if (memory !== "") shell(`ipcrm -m ${memory}`);
    listeners?.close();
    place?.remove();
  });

  test("is the tier that was used, and it reports what it confines", () => {
    expect(told.description).toMatchObject({
      tier,
      enforces: { network: true, filesystem: true, environment: true },
    });
    expect(told.results.map((result) => result.tier).filter((each) => each !== tier)).toEqual([]);
  });

  test.each(ATTACKS.map(([name], index) => [name, index] as const))("%s fails", (_name, index) => {
    const { ok = "", message = "" } = told.results[index] ?? {};
    expect(ok + message).not.toContain("OPEN");
    expect(ok + message).not.toContain("OUTSIDE-SECRET");
  });

  test("nothing outside and nothing protected has changed, and no listener was reached", () => {
    expect(reached).toBe(0);
    expect(readdirSync(place.out).toSorted()).toEqual(["o.sock", "program", "secret.txt"]);
    expect(readFileSync(join(place.out, "secret.txt"), "utf8")).toBe("OUTSIDE-SECRET\n");
    expect(statSync(join(place.out, "secret.txt")).mode & 0o777).toBe(0o644);
    expect(statSync(join(place.out, "secret.txt")).mtime.getFullYear()).toBeGreaterThan(2001);
    expect(readFileSync(join(place.root, "toolwright.config.ts"), "utf8")).toBe("settings\n");
    expect(readFileSync(join(place.root, ".toolwright", "store.db"), "utf8")).toBe("STORE\n");
    expect(readFileSync(join(place.root, ".toolwright", "deep", "note"), "utf8")).toBe("STORE\n");
    expect(readFileSync(join(place.root, ".git", "config"), "utf8")).not.toContain("evil");
    expect(readdirSync(join(place.root, ".git", "hooks"))).not.toContain("pre-commit");
  });

  test.each(LIMITS.map(([name], index) => [name, ATTACKS.length + WORK.length + index] as const))(
    `%s ${tier === "landlock" ? "is visible, as documented" : "is not visible"}`,
    (_name, index) => {
      const { ok = "", message = "" } = told.results[index] ?? {};
      expect((ok + message).includes("SEEN")).toBe(tier === "landlock");
    },
  );

  test.each(WORK.map(([name, , output], index) => [name, output, ATTACKS.length + index] as const))(
    "a command can %s",
    (_name, output, index) => expect(told.results[index]).toEqual({ ok: output, tier }),
  );
});

function fill(text: string, place: Place, listeners: Listeners): string {
  const filled = text
    .replaceAll("{PORT}", `${listeners.port}`)
    .replaceAll("{ABSTRACT}", listeners.abstractName)
    .replaceAll(
      /\b(TRUNCATE|PTRACE|WATCHES|WATCH|ATTRIBUTES)\b/g,
      (name) => `${numbers[name as keyof typeof numbers]}`,
    );
  return `export OUT='${place.out}' TOOLS='${join(place.base, "tools")}'; ${filled}`;
}
