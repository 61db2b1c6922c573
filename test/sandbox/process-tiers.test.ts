/**
 * Which tier is chosen, really: with bubblewrap, without it, without Perl, where user namespaces are forbidden and where
 * there is no Landlock; as root and as another user. Each is a child process with its own PATH, filter and user.
 */
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { mkdirSync, readdirSync, statSync, symlinkSync, chmodSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, inject } from "vitest";
import { publicNode } from "../public-root.ts";
import { denyNamespaces } from "./deny-namespaces.ts";
import {
  countProcesses,
  createPlace,
  openListeners,
  requireBubblewrap,
  sleepMark,
  until,
  untilGone,
  type Listeners,
  type Place,
} from "./process-harness.ts";

interface Told {
  readonly description: { tier: string; enforces: Record<string, boolean>; reason?: string; remedy?: string };
  readonly results: readonly { ok?: string; code?: string; message?: string; hint?: string; tier?: string }[];
}

interface Situation {
  readonly without?: readonly string[];
  /** By a filter as containers have it, by the kernel's own limit, or together with Landlock. */
  readonly namespaces?: "filtered" | "limited" | "without Landlock";
  readonly user?: "other";
  readonly isolation?: "require" | "auto" | "off";
}

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

const isRoot = process.getuid?.() === 0;
const source = (path: string): string => join(inject("publicRoot"), "src/sandbox", path);

/** A PATH on which some programs are missing, made of links to all the others. */
function pathWithout(names: readonly string[]): string {
  if (names.length === 0) return "/usr/local/bin:/usr/bin:/bin";
  const folder = join(place.base, `without-${names.join("-")}`);
  try {
    mkdirSync(folder, { mode: 0o755 });
  } catch {
    return folder; // Made for an earlier test.
  }
  for (const name of readdirSync("/usr/bin"))
    if (!names.includes(name)) symlinkSync(join("/usr/bin", name), join(folder, name));
  return folder;
}

interface Script {
  readonly text: string;
  /** Long enough for any machine, unless the script is to be cut off. */
  readonly timeoutMs?: number;
}

/** Runs each script in one agent process of the given kind. */
async function agent(
  situation: Situation,
  scripts: readonly Script[],
  onStart: (child: ChildProcess) => void = () => {},
): Promise<Told & { stderr: string }> {
  const program = `
    const { describeIsolation } = await import(${JSON.stringify(source("isolation/isolation.ts"))});
    const { runCommand } = await import(${JSON.stringify(source("process/run-command.ts"))});
    const results = [];
    for (const { text, timeoutMs = 60000 } of ${JSON.stringify(scripts)}) {
      const request = { cmd: "sh", args: ["-c", text], rootDir: ${JSON.stringify(place.root)}, allowNetwork: false,
        maxOutputBytes: 100000, timeoutMs, isolation: ${JSON.stringify(situation.isolation ?? "auto")} };
      results.push(await runCommand(request).then((r) => ({ ok: r.output, tier: r.tier }),
        (e) => ({ code: e.code ?? e.stack, message: e.message, hint: e.hint, tier: e.details?.tier })));
    }
    console.log(JSON.stringify({ description: await describeIsolation(), results }));`;
  const node = [
    publicNode(inject("publicRoot")),
    "--experimental-strip-types",
    "--no-warnings",
    "--input-type=module",
    "-e",
    program,
  ];
  const other = ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"];
  const forbid = `echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"`;
  const argv = [
    ...(situation.namespaces === "limited" ? ["/usr/bin/unshare", "-Ur", "/bin/sh", "-c", forbid, "sh"] : []),
    ...(situation.user === "other" ? other : []),
    ...(situation.namespaces === "filtered" ? denyNamespaces(join(place.base, "filter")) : []),
    ...(situation.namespaces === "without Landlock"
      ? denyNamespaces(join(place.base, "filter-all"), "landlock")
      : []),
    ...node,
  ];
  const env = { PATH: pathWithout(situation.without ?? []), HOME: "/nonexistent", LANG: "C.UTF-8" };
  const child = spawn(argv[0] ?? "", argv.slice(1), { env, stdio: ["ignore", "pipe", "pipe"] });
  onStart(child);
  const [stdout, stderr] = await Promise.all([readAll(child.stdout), readAll(child.stderr)]);
  if (stdout === "") throw new Error(`The agent process said nothing but: ${stderr}`);
  return { ...(JSON.parse(stdout) as Told), stderr };
}

async function readAll(stream: AsyncIterable<unknown>): Promise<string> {
  let text = "";
  for await (const chunk of stream) text += String(chunk);
  return text;
}

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
    "`require` takes a tier that confines everything, else fails closed (user: %s)",
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

test("`off` runs plainly and does not warn", async () => {
  const told = await agent({ isolation: "off" }, [{ text: "echo hi" }]);
  expect(told.results[0]).toMatchObject({ ok: "hi\n", tier: "none" });
  expect(told.stderr).toBe("");
});

test("a bubblewrap in the root is not taken for the real one", async () => {
  const evil = join(place.root, "bin");
  mkdirSync(evil, { recursive: true });
  execFileSync("/bin/sh", [
    "-c",
    `for p in bwrap unshare setpriv perl sh; do printf '#!/bin/sh\\necho EVIL\\n' > ${evil}/$p; chmod +x ${evil}/$p; done`,
  ]);
  const { createIsolation } = await import("../../src/sandbox/isolation/isolation.ts");
  const isolation = createIsolation({ path: () => `${evil}:/usr/bin:/bin`, warn: () => {} });
  const detected = await isolation.choose("require", [place.root, place.root]);
  expect(dirname(detected.programs.bwrap ?? "")).not.toBe(evil);
});
