/** How a command ends and which output is kept, with real processes. */
import { spawn } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { attempt, createPlace, requireBubblewrap, script, type Place } from "./process-harness.ts";
import { promptly } from "./promptly.ts";

let place: Place;

beforeAll(requireBubblewrap);
beforeEach(() => void (place = createPlace()));
afterEach(() => place.remove());

describe.each(["require", "off"] as const)("isolation %s", (isolation) => {
  test("both streams are merged in the order in which they were written", async () => {
    const text = `for i in 1 2 3 4 5; do echo out$i; echo err$i >&2; done`;
    const expected = [1, 2, 3, 4, 5].map((i) => `out${i}\nerr${i}\n`).join("");
    expect((await script(place.root, text, { isolation })).text).toBe(expected);
  });

  test("scripts can write to /dev/stdout and /dev/stderr", async () => {
    const text = `echo a > /dev/stderr; echo b > /dev/stdout; echo c | tee /dev/stderr >/dev/null; echo d >> /dev/fd/2`;
    expect((await script(place.root, text, { isolation })).text).toBe("a\nb\nc\nd\n");
  });

  test("the result names the exit code, the signal and the tier", async () => {
    const outcome = await script(place.root, `printf hi`, { isolation });
    const tier = isolation === "off" ? "none" : "bwrap";
    expect(outcome).toMatchObject({
      result: { output: "hi", exitCode: 0, signal: null, truncated: false, tier },
    });
  });

  test("a failure has its output, its code and its signal in the message and the details", async () => {
    const failed = await script(place.root, `echo why >&2; exit 3`, { isolation });
    expect(failed).toMatchObject({
      error: { code: "TOOL_COMMAND_FAILED", details: { output: "why\n", exitCode: 3, signal: null } },
    });
    expect(failed.text).toMatch(/exit code 3.*\nwhy\n/s);
    const killed = await script(place.root, `kill -9 $$`, { isolation });
    expect(killed).toMatchObject({
      error: { code: "TOOL_COMMAND_FAILED", details: { exitCode: 137, signal: "SIGKILL" } },
    });
    expect(killed.text).toContain("SIGKILL");
  });

  test.each([["nosuchprogram"], ["./nosuch"], ["/nosuch/program"]])(
    "%s is reported as missing, and nothing happened",
    async (cmd) => {
      const outcome = await attempt({ cmd, rootDir: place.root, isolation });
      expect(outcome).toMatchObject({
        error: { code: "TOOL_COMMAND_NOT_FOUND", effect: "none", details: { exitCode: 127 } },
      });
      expect(outcome.text).toContain("is not installed here");
      expect(outcome.text).not.toContain("bwrap");
    },
  );

  test.each([
    ["with an argument", "ls -la"],
    ["with a pipe", "ls|wc"],
    ["longer than a file name", `echo ${"a ".repeat(500)}`],
  ])("a shell line as the program, %s, is answered with how to run it", async (_name, cmd) => {
    const outcome = await attempt({ cmd, rootDir: place.root, isolation });
    const line = cmd.length > 200 ? "…" : cmd;
    expect(outcome).toMatchObject({
      error: {
        code: "TOOL_COMMAND_NOT_FOUND",
        hint: expect.stringContaining(`run a shell: { cmd: "sh", args: ["-c", ${JSON.stringify(line)}] }.`),
      },
    });
  });

  test("a file that is not executable is distinguished from a missing one", async () => {
    writeFileSync(join(place.root, "plain"), "no program");
    const outcome = await attempt({ cmd: "./plain", rootDir: place.root, isolation });
    expect(outcome).toMatchObject({ error: { code: "TOOL_COMMAND_NOT_FOUND", details: { exitCode: 126 } } });
    expect(outcome.text).not.toContain("bwrap");
  });

  test("the middle of a long output is omitted, and the mark says how much", async () => {
    const outcome = await script(place.root, `seq 1 100000`, { isolation, maxOutputBytes: 1_000 });
    expect(outcome).toMatchObject({ ok: true, result: { truncated: true } });
    expect(outcome.text).toMatch(/^1\n2\n3\n[\s\S]*\n\[… \d+ bytes omitted …\]\n[\s\S]*\n100000\n$/);
  });

  test("a flood of output is stopped", async () => {
    await promptly(async (within) => {
      const begin = Date.now();
      const outcome = await script(place.root, `yes`, { isolation });
      expect(outcome).toMatchObject({ error: { code: "TOOL_COMMAND_FAILED" } });
      expect(outcome.text).toContain("far more than the output limit");
      within("the end", Date.now() - begin, 10_000);
    });
  });

  test("arguments are not parsed by a shell", async () => {
    const args = ["$(id)", "`id`", "; id", "| id", "&& id", "> f", "--", "-n", ""];
    expect(
      (await attempt({ cmd: "printf", args: ["%s\\n", ...args], rootDir: place.root, isolation })).text,
    ).toBe(`${args.join("\n")}\n`);
  });

  test("the working directory is inside the root, even through a link", async () => {
    mkdirSync(join(place.root, "d", "e"), { recursive: true });
    symlinkSync("d/e", join(place.root, "l"));
    const cwds = ["d", "./d/", "d/e/..", join(place.root, "d"), "l", ".", ""];
    const found = [];
    for (const cwd of cwds)
      found.push((await attempt({ cmd: "pwd", rootDir: place.root, cwd, isolation })).text.trim());
    const [d, e] = [join(place.root, "d"), join(place.root, "d", "e")];
    expect(found.map((path) => path)).toEqual([d, d, d, d, e, place.root, place.root]);
  });
});

test.each([
  ["half a gigabyte of output", { floodBytes: 500_000_000, timeoutMs: 100_000 }, "flood", 500_000_000],
  [
    "yes for five seconds, where nothing ends a flood,",
    { floodBytes: 1e15, timeoutMs: 5_000 },
    "timeout",
    50_000_000,
  ],
])("%s takes less than 110 MB", { timeout: 120_000 }, async (_, ends, stopped, least) => {
  const module = fileURLToPath(new URL("../../src/sandbox/process/run-process.ts", import.meta.url));
  const request = {
    launch: {
      tier: "none",
      argv: ["yes"],
      env: { PATH: "/usr/bin:/bin" },
      cwd: "/",
      reports: false,
      held: [],
      kill: "group",
    },
    maxOutputBytes: 200_000,
    merge: true,
    ...ends,
  };
  const program = `
    let peak = 0;
    setInterval(() => { peak = Math.max(peak, process.memoryUsage.rss()); }, 20).unref();
    import(${JSON.stringify(module)}).then(async (m) => {
      const { output, stopped } = await m.runProcess(${JSON.stringify(request)});
      console.log(JSON.stringify({ peak, total: output.total, length: output.text().length, stopped }));
    });`;
  const flags = ["--experimental-strip-types", "--no-warnings"];
  const child = spawn(process.execPath, [...flags, "-e", program], { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  for await (const chunk of child.stdout) text += String(chunk);
  const told = JSON.parse(text) as { peak: number; total: number; length: number; stopped: string };
  expect(told.stopped).toBe(stopped);
  expect(told.total).toBeGreaterThan(least);
  expect(told.length).toBeLessThanOrEqual(200_000);
  expect(told.peak / 1_048_576).toBeLessThan(110);
});
