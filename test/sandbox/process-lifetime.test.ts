/** A process tree always dies with its call: on timeout, on abort, and when the agent itself is killed. */
import { execFileSync, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import {
  countProcesses,
  createPlace,
  requireBubblewrap,
  script,
  scriptTimedOut,
  sleepMark,
  until,
  untilGone,
  type Place,
} from "./process-harness.ts";
import { promptly, type Within } from "./promptly.ts";

const RUN_COMMAND = fileURLToPath(new URL("../../src/sandbox/process/run-command.ts", import.meta.url));

let place: Place;
let mark: string;

beforeAll(requireBubblewrap);
beforeEach(() => {
  place = createPlace();
  mark = sleepMark();
});
afterEach(() => place.remove());

async function expectGone(within: Within): Promise<void> {
  const begin = Date.now();
  expect(await untilGone(mark)).toBe(0);
  within("dying", Date.now() - begin, 2_000);
}

/** With how many sleep in the end. */
const WAYS: readonly [string, string, number][] = [
  ["a child in the background", `sleep M & sleep M`, 2],
  ["a separate session", `setsid sleep M & sleep M`, 2],
  ["a double fork", `(setsid sh -c 'sleep M & sleep M &' &) ; sleep M`, 3],
  ["nohup", `nohup sleep M >/dev/null 2>&1 & sleep M`, 2],
  ["a deaf child", `trap '' TERM INT HUP QUIT; setsid sh -c "trap '' TERM INT HUP; sleep M" & sleep M`, 2],
  [
    "a daemon",
    `python3 -c 'import os,sys
if os.fork(): sys.exit()
os.setsid()
if os.fork(): sys.exit()
os.closerange(0,256); os.execlp("sleep","sleep","M")' & sleep M`,
    2,
  ],
  ["many at once", `for i in $(seq 200); do sleep M & done; setsid sleep M & wait`, 201],
];

test.each(WAYS)("at the timeout, %s dies too", async (_, text, count) => {
  const command = `echo before; ${text.replaceAll(/\bM\b/g, mark)}`;
  await promptly(async (within) => {
    const outcome = await scriptTimedOut(place.root, command, () => countProcesses(mark) >= count);
    expect(outcome).toMatchObject({
      ok: false,
      error: { code: "TOOL_TIMEOUT", details: { output: "before\n" } },
    });
    within("the end", outcome.tookMs, 3_300);
    await expectGone(within);
  });
});

test.each(WAYS.slice(0, 4))("when the command has ended, %s does not stay", async (_, text) => {
  const background = text.replaceAll(/\bM\b/g, mark).replace(/[;&] sleep \S+$/, "");
  const outcome = await script(place.root, `${background} & echo done`);
  expect(outcome.text).toContain("done");
  expect(await untilGone(mark)).toBe(0);
});

test.each([
  ["bwrap", "require"],
  ["no sandbox", "off"],
] as const)("an abort ends everything immediately, under %s", async (_, isolation) => {
  await promptly(async (within) => {
    const controller = new AbortController();
    const running = script(place.root, `setsid sleep ${mark} & echo begun; sleep ${mark}`, {
      signal: controller.signal,
      timeoutMs: 600_000,
      isolation,
    });
    await until(() => countProcesses(mark) >= 2);
    const begin = Date.now();
    controller.abort(new Error("stop"));
    const outcome = await running;
    expect(outcome).toMatchObject({
      ok: false,
      error: { code: "TOOL_ABORTED", details: { output: "begun\n" } },
    });
    within("the end", Date.now() - begin, 1_500);
    await expectGone(within);
  });
});

test("a call that is already aborted starts nothing", async () => {
  const outcome = await script(place.root, `echo x > f`, { signal: AbortSignal.abort() });
  expect(outcome).toMatchObject({ ok: false, error: { code: "TOOL_ABORTED", effect: "none" } });
});

test.each([
  ["a child", `sleep M`],
  ["a separate session", `setsid sleep M & sleep M`],
  ["a double fork", `(setsid sh -c 'sleep M & sleep M &' &) ; sleep M`],
])("when the agent is killed with SIGKILL, %s dies", async (_, text) => {
  const request = {
    cmd: "sh",
    args: ["-c", text.replaceAll(/\bM\b/g, mark)],
    rootDir: place.root,
    allowNetwork: false,
    maxOutputBytes: 1_000,
    timeoutMs: 60_000,
    isolation: "require",
  };
  const program = `import(${JSON.stringify(RUN_COMMAND)}).then((m) => m.runCommand(${JSON.stringify(request)}))`;
  const agent = spawn(process.execPath, ["--experimental-strip-types", "--no-warnings", "-e", program], {
    stdio: "ignore",
  });
  await until(() => countProcesses(mark) > 0);
  agent.kill("SIGKILL");
  expect(await untilGone(mark)).toBe(0);
});

test("without isolation, a child that holds the pipe delays the end by 250 ms at most", async () => {
  await promptly(async (within) => {
    const begin = Date.now();
    const outcome = await script(place.root, `setsid sleep ${mark} & echo done`, { isolation: "off" });
    expect(outcome.text).toBe("done\n");
    within("the end", Date.now() - begin, 2_000);
    await expectGone(within);
  });
});

test("without isolation, a child dies even if process ids have wrapped around", () => {
  const request = {
    cmd: "sh",
    args: ["-c", `setsid sh -c "echo > up; exec sleep ${mark}" & until [ -e up ]; do :; done; echo $$ $!`],
    rootDir: place.root,
    allowNetwork: false,
    maxOutputBytes: 1_000,
    timeoutMs: 60_000,
    isolation: "off",
  };
  // In its own PID namespace, so that the last id can be set: the command gets the highest id, its child a low one.
  const program = `
    const { readdirSync, readFileSync, writeFileSync } = await import("node:fs");
    const { runCommand } = await import(${JSON.stringify(RUN_COMMAND)});
    await runCommand({ ...${JSON.stringify(request)}, args: ["-c", "true"] });
    const most = Number(readFileSync("/proc/sys/kernel/pid_max", "utf8"));
    writeFileSync("/proc/sys/kernel/ns_last_pid", String(most - 2));
    const { output } = await runCommand(${JSON.stringify(request)});
    const texts = readdirSync("/proc").filter((name) => /^[0-9]+$/.test(name)).map((pid) => {
      try { return readFileSync("/proc/" + pid + "/cmdline", "utf8"); } catch { return ""; }
    });
    const [parent, child] = output.split(" ").map(Number);
    console.log(child < parent, texts.filter((text) => text.startsWith("sleep")).length);`;
  const node = [process.execPath, "--experimental-strip-types", "--no-warnings", "--input-type=module", "-e"];
  const left = execFileSync("unshare", ["-Urpf", "--mount-proc", ...node, program], { encoding: "utf8" });
  expect(left.trim()).toBe("true 0");
});
