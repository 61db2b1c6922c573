/**
 * Which tier a real process chooses: with bubblewrap, without it, without Perl, without user namespaces and without
 * Landlock; as root and as another user. Each is a child process with its own PATH, filter and user.
 */
import { execFileSync, type ChildProcess } from "node:child_process";
import { mkdirSync, readdirSync, statSync, writeFileSync, chmodSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createIsolation } from "../../src/sandbox/tiers/isolation.ts";
import { runCommand } from "../../src/sandbox/process/run-command.ts";
import { searchFiles } from "../../src/sandbox/search/search-files.ts";
import { none } from "../../src/sandbox/tiers/none.ts";
import { seccomp } from "../../src/sandbox/tiers/seccomp.ts";
import {
  countProcesses,
  createPlace,
  DEFAULTS,
  openListeners,
  requireBubblewrap,
  sleepMark,
  until,
  untilGone,
  type Listeners,
  type Place,
} from "./process-harness.ts";
import { isRoot, runAgent, type Script, type Situation, type Told } from "./tier-agent.ts";

let place: Place;
let listeners: Listeners;

beforeAll(async () => {
  await requireBubblewrap();
  place = createPlace();
  chmodSync(place.base, 0o777);
  chmodSync(place.root, 0o777);
  listeners = await openListeners();
});
afterAll(() => {
  listeners?.close();
  place?.remove();
});

const agent = (
  situation: Situation,
  scripts: readonly Script[],
  onStart?: (child: ChildProcess) => void,
): Promise<Told> => runAgent({ place, situation, scripts, onStart });

const reach = (): string =>
  `python3 -c 'import socket;socket.create_connection(("127.0.0.1",${listeners.port}),1)' || perl -MSocket -e 'socket(my $s,2,1,0) or die "no socket"; connect($s,pack_sockaddr_in(${listeners.port},inet_aton("127.0.0.1"))) or die "no way"'`;

const ALL = { network: true, filesystem: true, processes: true, environment: true };
const NOTHING = { network: false, filesystem: false, processes: false, environment: false };

const SITUATIONS: readonly [string, Situation, string, Record<string, boolean>][] = [
  ["with bubblewrap", {}, "bwrap", ALL],
  ["without bubblewrap", { without: ["bwrap"] }, "unshare", ALL],
  ["without any program but Perl", { without: ["bwrap", "unshare", "setpriv", "mount"] }, "unshare", ALL],
  ["without bubblewrap and Perl", { without: ["bwrap", "perl"] }, "none", NOTHING],
  [
    "in a container without user namespaces",
    { namespaces: "filtered" },
    "landlock",
    { ...ALL, processes: false },
  ],
  [
    "in a container without user namespaces and Perl",
    { namespaces: "filtered", without: ["perl"] },
    "none",
    NOTHING,
  ],
  ["without user namespaces and Landlock", { namespaces: "without Landlock" }, "seccomp", NOTHING],
];
/** Only root can set the limit. */
const LIMITED: (typeof SITUATIONS)[number] = [
  "where the kernel allows no user namespace",
  { namespaces: "limited" },
  "landlock",
  { ...ALL, processes: false },
];

describe.each([...SITUATIONS, ...(isRoot ? [LIMITED] : [])])("%s", (_, situation, tier, enforces) => {
  const users: Situation["user"][] =
    isRoot && situation.namespaces !== "limited" ? [undefined, "other"] : [undefined];
  const isFull = Object.values(enforces).every(Boolean);
  const isEnough = enforces["filesystem"] === true && enforces["network"] === true;
  const as = (user: Situation["user"]): Situation => ({
    ...situation,
    ...(user === undefined ? {} : { user }),
  });

  test.each(users)(`the tier is ${tier} (user: %s)`, async (user) => {
    const before = listeners.hits();
    const mark = sleepMark();
    const told = await agent(as(user), [
      { text: "echo out; echo err >&2" },
      { text: reach() },
      { text: `setsid sleep ${mark} & sleep ${mark}`, timeoutMs: 1_500 },
      { text: "exit 7" },
      { text: "kill -9 $$" },
      { text: `cat ${place.out}/secret.txt; echo x > ${place.out}/made; chmod 700 ${place.out}; true` },
    ]);
    expect(told.description).toMatchObject({ tier, enforces });
    if (!isEnough) {
      for (const result of told.results)
        expect(result).toMatchObject({ code: "TOOL_SANDBOX_UNAVAILABLE", tier });
      expect(told.results[0]?.message).toContain(told.description.reason);
      expect(told.results[0]?.hint).toContain(told.description.remedy);
      expect(told.results[0]?.hint).toContain('isolation: "off"');
      return;
    }
    expect(told.results[0]).toMatchObject({ ok: "out\nerr\n", tier });
    expect(told.results[1]).toMatchObject({ code: "TOOL_COMMAND_FAILED" });
    expect(listeners.hits()).toBe(before);
    expect(told.results[2]).toMatchObject({ code: "TOOL_TIMEOUT" });
    expect(await untilGone(mark)).toBe(0);
    expect(told.results[3]).toMatchObject({ code: "TOOL_COMMAND_FAILED" });
    expect(told.results[4]?.message).toContain("SIGKILL");
    expect(told.results[5]?.ok).not.toContain("OUTSIDE-SECRET");
    expect(readdirSync(place.out)).toEqual(["secret.txt"]);
    expect(statSync(place.out).mode & 0o777).toBe(0o755);
    if (isFull) expect(told.stderr).toBe("");
    else {
      expect(told.stderr.match(/WARNING/g)).toHaveLength(1);
      expect(told.stderr).toContain(told.description.remedy);
    }
  });

  test.each(users)(
    "`require` takes a tier that confines everything, or fails closed (user: %s)",
    async (user) => {
      const told = await agent({ ...as(user), isolation: "require" }, [
        { text: "touch made-by-require-$(id -u)" },
      ]);
      expect(told.stderr).toBe("");
      if (isFull) return expect(told.results[0]).toMatchObject({ ok: "", tier });
      expect(told.results[0]).toMatchObject({ code: "TOOL_SANDBOX_UNAVAILABLE" });
      expect(told.results[0]?.message).toContain(told.description.reason);
    },
  );
});

test.each([
  ["unshare", { without: ["bwrap"] }],
  ["landlock", { namespaces: "filtered" }],
] as const)("under %s, a command dies when the agent is killed with SIGKILL", async (_, situation) => {
  const mark = sleepMark();
  const killed = Promise.withResolvers<void>();
  const running = agent(situation, [{ text: `setsid sleep ${mark} & sleep ${mark}` }], (child) => {
    const isStarted = (): boolean => countProcesses(mark) >= 2;
    void until(isStarted).then(() => killed.resolve(void child.kill("SIGKILL")));
  });
  await Promise.all([killed.promise, expect(running).rejects.toThrow("said nothing")]);
  expect(await untilGone(mark)).toBe(0);
});

test("`off` runs without a sandbox and does not warn", async () => {
  const told = await agent({ isolation: "off" }, [{ text: "echo hi" }]);
  expect(told.results[0]).toMatchObject({ ok: "hi\n", tier: "none" });
  expect(told.stderr).toBe("");
});

test("a bubblewrap in the root is not trusted", async () => {
  const evil = join(place.root, "bin");
  mkdirSync(evil, { recursive: true });
  execFileSync("/bin/sh", [
    "-c",
    `for p in bwrap unshare setpriv perl sh; do printf '#!/bin/sh\\necho EVIL\\n' > ${evil}/$p; chmod +x ${evil}/$p; done`,
  ]);
  const isolation = createIsolation({ path: () => `${evil}:/usr/bin:/bin`, warn: () => {} });
  const detected = await isolation.choose("require", [place.root, place.root]);
  expect(dirname(detected.programs.bwrap ?? "")).not.toBe(evil);
});

test.each([seccomp, none])("grep still searches when commands are refused (tier $name)", async (tier) => {
  const on = createIsolation({ path: () => "/usr/bin:/bin", warn: () => {}, tiers: [tier] });
  writeFileSync(join(place.root, "searched.txt"), "needle\n");
  const request = { ...DEFAULTS, rootDir: place.root, isolation: "auto", on } as const;
  const found = await searchFiles({ ...request, pattern: "needle", path: "searched.txt" });
  expect(found).toMatchObject({ output: "searched.txt:1:needle\n", tier: tier.name });
  await expect(runCommand({ ...request, cmd: "true" })).rejects.toMatchObject({
    code: "TOOL_SANDBOX_UNAVAILABLE",
    effect: "none",
  });
});

test("a tier that does not confine what it claims is not used", async () => {
  const liar = { ...seccomp, enforces: { ...seccomp.enforces, filesystem: true, network: true } };
  const on = createIsolation({ path: () => "/usr/bin:/bin", warn: () => {}, tiers: [liar] });
  const { tier, reason } = await on.describe();
  expect(tier).toBe("none");
  expect(reason).toContain("seccomp: it does not confine filesystem");
});
