/**
 * Which tier is chosen, really: with bubblewrap, without it, and where user namespaces are forbidden; as root and as
 * another user. Each is a child process with its own PATH, namespaces and user.
 */
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { mkdirSync, readdirSync, symlinkSync, chmodSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, inject } from "vitest";
import { publicNode } from "../public-root.ts";
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
  readonly results: readonly { ok?: string; code?: string; message?: string; tier?: string }[];
}

interface Situation {
  readonly without?: readonly string[];
  readonly namespaces?: "forbidden";
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
        (e) => ({ code: e.code ?? e.stack, message: e.message, tier: e.details?.tier })));
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
    ...(situation.namespaces === "forbidden"
      ? ["/usr/bin/unshare", "-Ur", "/bin/sh", "-c", forbid, "sh"]
      : []),
    ...(situation.user === "other" ? other : []),
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

const SITUATIONS: readonly [string, Situation, string, Record<string, boolean>][] = [
  ["with bubblewrap", {}, "bwrap", { network: true, filesystem: true, processes: true, environment: true }],
  [
    "without bubblewrap",
    { without: ["bwrap"] },
    "unshare",
    { network: true, filesystem: false, processes: true, environment: true },
  ],
  [
    "without bubblewrap and Perl",
    { without: ["bwrap", "perl"] },
    "unshare",
    { network: false, filesystem: false, processes: true, environment: true },
  ],
  [
    "without bubblewrap and unshare",
    { without: ["bwrap", "unshare"] },
    "seccomp",
    { network: true, filesystem: false, processes: false, environment: false },
  ],
  [
    "without any of them",
    { without: ["bwrap", "unshare", "perl"] },
    "none",
    { network: false, filesystem: false, processes: false, environment: false },
  ],
];
const FORBIDDEN: (typeof SITUATIONS)[number] = [
  "where user namespaces are forbidden",
  { namespaces: "forbidden" },
  "seccomp",
  { network: true, filesystem: false, processes: false, environment: false },
];

describe.each([...SITUATIONS, ...(isRoot ? [FORBIDDEN] : [])])("%s", (_, situation, tier, enforces) => {
  const users: Situation["user"][] =
    isRoot && situation.namespaces === undefined ? [undefined, "other"] : [undefined];

  test.each(users)(`the tier is ${tier} (user: %s)`, async (user) => {
    const before = listeners.hits();
    const mark = sleepMark();
    const told = await agent({ ...situation, ...(user === undefined ? {} : { user }) }, [
      { text: "echo out; echo err >&2" },
      { text: reach() },
      { text: `setsid sleep ${mark} & sleep ${mark}`, timeoutMs: 1_500 },
      { text: "exit 7" },
      { text: "kill -9 $$" },
    ]);
    expect(told.description).toMatchObject({ tier, enforces });
    expect(told.results[0]).toMatchObject({ ok: "out\nerr\n", tier });
    expect(told.results[1]).toMatchObject(
      enforces["network"] === true ? { code: "TOOL_COMMAND_FAILED" } : {},
    );
    if (enforces["network"] === true) expect(listeners.hits()).toBe(before);
    expect(told.results[2]).toMatchObject({ code: "TOOL_TIMEOUT" });
    expect(await untilGone(mark)).toBe(0);
    expect(told.results[3]).toMatchObject({ code: "TOOL_COMMAND_FAILED" });
    expect(told.results[4]?.message).toContain("SIGKILL");
    if (tier === "bwrap") expect(told.stderr).toBe("");
    else {
      expect(told.stderr.match(/WARNING/g)).toHaveLength(1);
      expect(told.stderr).toContain(told.description.remedy);
    }
  });

  test("`require` fails closed below bubblewrap, with the reason and the remedy", async () => {
    const told = await agent({ ...situation, isolation: "require" }, [{ text: "touch made-by-require" }]);
    expect(told.stderr).toBe("");
    if (tier === "bwrap") return expect(told.results[0]).toMatchObject({ ok: "" });
    expect(told.results[0]).toMatchObject({ code: "TOOL_SANDBOX_UNAVAILABLE" });
    expect(told.results[0]?.message).toContain(told.description.reason);
  });
});

test.each([
  ["unshare", ["bwrap"]],
  ["seccomp", ["bwrap", "unshare"]],
])("under %s, a command dies when the agent is killed with SIGKILL", async (_, without) => {
  const mark = sleepMark();
  const killed = Promise.withResolvers<void>();
  const running = agent({ without }, [{ text: `setsid sleep ${mark} & sleep ${mark}` }], (child) => {
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
  expect(dirname(detected?.programs.bwrap ?? "")).not.toBe(evil);
});
