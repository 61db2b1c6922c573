/** The built-in tools match their doc pages, sentence by sentence, when called through the pipeline. */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bash, edit, getDefinedToolMetadata, grep, read, tools, write } from "toolwright";
import * as subpath from "toolwright/tools";
import { beforeEach, describe, expect, it } from "vitest";
import { countProcesses, sleepMark, until, untilGone } from "../sandbox/process-harness.ts";
import { createWorkshop, type Workshop } from "./harness.ts";

const task = { runId: "r1" };
let shop: Workshop;

beforeEach(() => {
  shop = createWorkshop();
  mkdirSync(shop.root);
});

const put = (name: string, text: string): void => writeFileSync(join(shop.root, name), text);
const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

describe("the bundle", () => {
  it("holds the five tools by name, from the root and from the subpath", () => {
    expect(Object.keys(tools).toSorted()).toEqual(["bash", "edit", "grep", "read", "write"]);
    expect(tools).toEqual({ read, write, edit, bash, grep });
    expect(subpath.tools).toBe(tools);
  });

  it("has the flags of the newest page", () => {
    const flags = Object.values(tools).map((tool) => getDefinedToolMetadata(tool));
    expect(flags).toEqual([
      { name: "read", sideEffect: false, idempotent: true },
      { name: "write", sideEffect: true, idempotent: false },
      { name: "edit", sideEffect: true, idempotent: false },
      { name: "bash", sideEffect: true, idempotent: false },
      { name: "grep", sideEffect: false, idempotent: true },
    ]);
  });

  it("has the documented limits", () => {
    expect([
      subpath.BASH_TOOL_MAX_COMMAND_LENGTH,
      subpath.BASH_TOOL_MAX_ARGS,
      subpath.BASH_TOOL_MAX_ARG_LENGTH,
      subpath.BASH_TOOL_MAX_CWD_LENGTH,
      subpath.BASH_TOOL_MAX_OUTPUT_BYTES,
      subpath.BASH_TOOL_MAX_TIMEOUT_MS,
    ]).toEqual([8_192, 128, 8_192, 1_024, 10_485_760, 3_600_000]);
  });
});

describe("read", () => {
  it("returns the contents, and refuses a file over maxOutputBytes unless it is read in parts", async () => {
    put("a.txt", "one\ntwo\nthree\n");
    const runtime = shop.open({ maxOutputBytes: 8 });
    expect(await runtime.call(read, { path: "a.txt" }, task)).toMatchObject({
      status: "error",
      error: { code: "TOOL_FILE_TOO_LARGE", message: expect.stringContaining("File too large") },
    });
    expect(await runtime.call(read, { path: "a.txt", offset: 2, limit: 1 }, task)).toMatchObject({
      output: "two\n",
    });
  });

  it("stays inside the root", async () => {
    expect(await shop.open().call(read, { path: "../calls.db" }, task)).toMatchObject({
      error: { code: "TOOL_PATH_ESCAPE" },
    });
  });
});

describe("write and edit", () => {
  it("return ok; the log has path, size and SHA-256, and never the content", async () => {
    const runtime = shop.open();
    const content = "secret plans\n";
    const patch = "@@ -1 +1 @@\n-secret plans\n+other plans\n";
    expect(await runtime.call(write, { path: "deep/er/a.txt", content }, task)).toMatchObject({
      output: "ok",
    });
    expect(await runtime.call(edit, { path: "deep/er/a.txt", patch }, task)).toMatchObject({ output: "ok" });
    expect(readFileSync(join(shop.root, "deep/er/a.txt"), "utf8")).toBe("other plans\n");
    const rows = await runtime.calls(task);
    expect(rows.map(({ inputJson }) => JSON.parse(String(inputJson)))).toEqual([
      { path: "deep/er/a.txt", bytes: content.length, sha256: sha256(content) },
      { path: "deep/er/a.txt", bytes: patch.length, sha256: sha256(patch) },
    ]);
    await runtime[Symbol.asyncDispose]();
    expect(readFileSync(shop.store).includes("plans")).toBe(false);
  });

  it("do not log the content of a call that was refused either", async () => {
    const runtime = shop.open({ maxOutputBytes: 10 });
    const outcome = await runtime.call(write, { path: "a.txt", content: "much too long" }, task);
    expect(outcome).toMatchObject({
      error: { code: "TOOL_CONTENT_TOO_LARGE", message: expect.stringContaining("Content too large") },
    });
    await runtime[Symbol.asyncDispose]();
    expect(readFileSync(shop.store).includes("much too")).toBe(false);
  });

  it("rule 32: cannot touch the store, the configuration or git's hooks", async () => {
    const runtime = shop.open({ store: join(shop.root, "calls.db") });
    await runtime.ready();
    for (const path of [
      "calls.db",
      "calls.db-wal",
      ".toolwright/x",
      "toolwright.config.ts",
      ".git/hooks/x",
    ]) {
      expect(await runtime.call(write, { path, content: "x" }, task), path).toMatchObject({
        error: { code: "TOOL_PATH_PROTECTED" },
      });
    }
  });
});

describe("grep", () => {
  it("returns file:line:text, and an empty string when nothing matches; the row has the tier", async () => {
    put("a.txt", "x\nneedle\n");
    const runtime = shop.open();
    expect(await runtime.call(grep, { pattern: "needle" }, task)).toMatchObject({
      output: "a.txt:2:needle\n",
    });
    expect(await runtime.call(grep, { pattern: "nothing" }, task)).toMatchObject({ output: "" });
    expect(await runtime.call(grep, { pattern: "(" }, task)).toMatchObject({
      error: { code: "TOOL_GREP_FAILED" },
    });
    const [row] = await runtime.calls(task);
    expect(row?.isolation).toBe("bwrap");
  });
});

describe("bash", () => {
  it("returns both streams; a failure brings output and exit code to the model; the row has the tier", async () => {
    const runtime = shop.open();
    const good = await runtime.call(bash, { cmd: "sh", args: ["-c", "echo out; echo err >&2"] }, task);
    expect(good).toMatchObject({ output: "out\nerr\n" });
    const bad = await runtime.call(bash, { cmd: "sh", args: ["-c", "echo why; exit 7"] }, task);
    expect(bad).toMatchObject({
      error: {
        code: "TOOL_COMMAND_FAILED",
        details: { exitCode: 7 },
        message: expect.stringContaining("why"),
      },
    });
    expect((await runtime.calls(task)).map(({ isolation }) => isolation)).toEqual(["bwrap", "bwrap"]);
  });

  it("is refused the network before it starts, and the store while it runs", async () => {
    const runtime = shop.open({ store: join(shop.root, "calls.db") });
    await runtime.ready();
    expect(await runtime.call(bash, { cmd: "git", args: ["push"] }, task)).toMatchObject({
      error: { code: "TOOL_GIT_REMOTE_DISABLED", effect: "none" },
    });
    await runtime.call(
      bash,
      { cmd: "sh", args: ["-c", "echo x > calls.db; rm -f calls.db; cat calls.db"] },
      task,
    );
    expect(readFileSync(join(shop.root, "calls.db")).subarray(0, 6).toString()).toBe("SQLite");
  });

  it("is killed by the timeout of the runtime, and when its call is aborted", async () => {
    const mark = sleepMark();
    const command = { cmd: "sh", args: ["-c", `sleep ${mark}; touch late`] };
    const slow = shop.open({ toolTimeoutMs: 200 });
    expect(await slow.call(bash, command, task)).toMatchObject({ error: { code: "TOOL_TIMEOUT" } });
    expect(await untilGone(mark)).toBe(0);
    const stop = new AbortController();
    const cut = shop.open().call(bash, command, { runId: "r2", signal: stop.signal });
    await until(() => countProcesses(mark) > 0);
    stop.abort();
    expect(await cut).toMatchObject({ error: { code: "TOOL_ABORTED" } });
    expect(await untilGone(mark)).toBe(0);
    expect(existsSync(join(shop.root, "late"))).toBe(false);
  });

  it("works in the folder that opts name", async () => {
    mkdirSync(join(shop.root, "sub"));
    const outcome = await shop.open().call(bash, { cmd: "pwd", opts: { cwd: "sub" } }, task);
    expect(outcome).toMatchObject({ output: expect.stringMatching(/\/sub\n$/) });
  });
});

describe("the lower-level functions", () => {
  it("take positional arguments and the settings of the context around them", async () => {
    const context = { rootDir: shop.root, maxOutputBytes: 100 };
    const inside = <T>(work: () => T): T => subpath.runWithToolContext(context, work);
    expect(await inside(() => subpath.writeFileTool("a.txt", "one\n"))).toBe("ok");
    expect(await inside(() => subpath.editFileTool("a.txt", "@@ -1 +1 @@\n-one\n+two\n"))).toBe("ok");
    expect(await inside(() => subpath.readFileTool("a.txt"))).toBe("two\n");
    expect(await inside(() => subpath.grepTool("two"))).toBe("a.txt:1:two\n");
    expect(await inside(() => subpath.bashTool("cat", ["a.txt"]))).toBe("two\n");
    await expect(inside(() => subpath.writeFileTool("b.txt", "x".repeat(101)))).rejects.toMatchObject({
      code: "TOOL_CONTENT_TOO_LARGE",
    });
  });

  it("work as tools outside any run too", async () => {
    const output = await subpath.runWithToolContext({ rootDir: shop.root }, () =>
      write.execute({ path: "a.txt", content: "x" }),
    );
    expect(output).toBe("ok");
  });
});
