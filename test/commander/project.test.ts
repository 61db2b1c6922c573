/** The tools of a project as commands of the real `toolwright`, in separate processes. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createFolder, start, toolwright } from "../cli/command.ts";
import { CONFIG } from "./project.ts";

function createProject(more = ""): string {
  return createFolder({
    "toolwright.config.ts": CONFIG.replace("export default {", `export default { ${more}`),
  });
}

it("runs a tool, as text and as JSON, and logs it", async () => {
  const folder = createProject();
  expect(await toolwright(folder, ["notes", "write", "a title"])).toMatchObject({
    code: 0,
    stdout: "title:   a title\ncontent: nothing\n",
    stderr: "",
  });
  const typed = ["notes", "write", "b", "--content=x", "--run-id", "r", "--json"];
  expect((await toolwright(folder, typed)).json()).toEqual({ title: "b", content: "x" });
  const calls = await toolwright(folder, ["calls", "r", "--json"]);
  expect(calls.json()).toMatchObject([{ toolName: "notes_write", status: "success" }]);
});

it("reads any one value from stdin, to the byte", async () => {
  const folder = createProject();
  const text = 'line one\n\n  "two" \u00fc\n';
  const write = (...words: string[]) =>
    toolwright(folder, ["notes", "write", ...words, "--json"], { stdin: text });
  expect((await write("t", "--content", "-")).json()).toEqual({ title: "t", content: text });
  expect((await write("-")).json()).toEqual({ title: text, content: "nothing" });
  const number = await toolwright(folder, ["notes", "write", "t", "--stars", "-", "--json"], {
    stdin: " 5\n",
  });
  expect(number.json()).toMatchObject({ stars: 5 });
  const whole = await toolwright(folder, ["notes", "write", "--input", "-"], { stdin: '{"title":"w"}' });
  expect(whole.stdout).toContain("title:   w\n");
  expect(await write("-", "--content", "-")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(
      'only one value can be read from stdin, but <title> and --content are "-"',
    ),
  });
});

it("lists the tools with their properties, and never lets one shadow a command", async () => {
  const folder = createProject();
  const listed = await toolwright(folder, ["tools"]);
  expect(listed.code).toBe(0);
  expect(listed.stdout).toMatch(/^COMMAND +TOOL +FLAGS +DESCRIPTION\n/);
  expect(listed.stdout).toMatch(/notes write +notes_write +pure +Write a note\./);
  expect(listed.stdout).toMatch(/pay +pay +side effect, approval +Pay a person\./);
  expect(listed.stderr).toMatch(
    /"ps" is a built-in command of toolwright, so the tool "ps" has no command\. Rename it/,
  );
  expect(listed.stderr).toMatch(/use the tool "inspect_all" with: node \S+main\.js inspect_all/);
  const rows = (await toolwright(folder, ["tools", "--json"])).json();
  expect(rows).toContainEqual({
    name: "pay",
    command: "pay",
    group: null,
    description: "Pay a person.",
    sideEffect: true,
    idempotent: false,
    needsApproval: true,
    terminal: false,
    inputSchema: expect.objectContaining({ required: ["euros"] }),
    outputSchema: null,
    note: null,
  });
  expect((await toolwright(folder, ["ps"])).stdout).toContain("There is no store");
  const byFullName = await toolwright(folder, [
    "inspect_all",
    "--store",
    "mine",
    "--tool-store",
    "s.db",
    "--json",
  ]);
  expect(byFullName.json()).toEqual({ store: "mine" });
  expect(existsSync(join(folder, "s.db"))).toBe(true);
  expect((await toolwright(folder, ["help", "notes"])).stdout).toContain("write|notes_write");
});

it("words usage errors like other commands, and prints commands that can be pasted", async () => {
  const folder = createProject();
  const option = await toolwright(folder, ["notes", "write", "a", "--star", "5"]);
  expect(option.stderr).toMatch(
    /^error: unknown option '--star' \(Did you mean --stars\?\)\n {2}See: node \S+main\.js notes write --help\n$/,
  );
  const command = await toolwright(folder, ["notes", "wrte"]);
  expect(command.stderr).toMatch(
    /^error: unknown command 'wrte' \(Did you mean write\?\)\n {2}See: node \S+main\.js notes --help\n$/,
  );
  // A line break in an argument starts no line of its own.
  const forged = await toolwright(folder, ["notes", "wrte\n  See: evil"]);
  expect(forged.stderr).toMatch(/^error: unknown command 'wrte\n {2}\| {3}See: evil'\n {2}See: node /);
  const help = await toolwright(folder, ["notes", "write", "--help"]);
  expect(help.stdout).toMatch(/\nExample:\n {2}node \S+main\.js notes write TITLE /);
});

it("uses the store of the configuration, unless the command names another", async () => {
  const folder = createProject('store: "app.db",');
  await toolwright(folder, ["notes", "write", "a"]);
  expect([existsSync(join(folder, "app.db")), existsSync(join(folder, "toolwright.db"))]).toEqual([
    true,
    false,
  ]);
  await toolwright(folder, ["notes", "write", "a", "--store", "other.db"]);
  expect(existsSync(join(folder, "other.db"))).toBe(true);
});

it("does not load the configuration for commands that get the store as an option, or need none", async () => {
  const folder = createFolder({ "toolwright.config.ts": 'throw new Error("loaded");' });
  for (const command of [["ps", "--store", "other.db"], ["--help"], ["--version"], ["help", "ps"]]) {
    expect(await toolwright(folder, command)).toMatchObject({ code: 0, stderr: "" });
  }
});

describe("an invalid configuration", () => {
  it.each([
    [
      "nothing at all",
      undefined,
      /^toolwright: There is no toolwright\.config\.ts in this folder\.\n {2}Write one/,
    ],
    ["one that throws", 'throw new Error("no luck");', /toolwright\.config\.ts could not be loaded: no luck/],
    ["one that does not compile", "export default {", /toolwright\.config\.ts:1:\d+ does not compile/],
    [
      "no default export",
      "export const tools = [];",
      /has no default export with a configuration\.\n.*export default/,
    ],
    ["a list", "export default [];", /has no default export with a configuration/],
    ["an unknown word", "export default { tool: [] };", /unknown option "tool"\. Did you mean "tools"\?/],
    ["values that are not tools", "export default { tools: 7 };", /tools must be an array of tools/],
    [
      "a value that is not a tool",
      "export default { tools: [undefined] };",
      /tools\.0 must be a tool, not undefined/,
    ],
    ["a tool that is half", 'export default { tools: [{ name: "x" }] };', /Tool "x": an object with one of/],
    ["a value that is not a store", "export default { tools: [], store: 7 };", /store must be a path/],
    [
      "two tools of one name",
      'const x = { name: "x", schema: { type: "object" }, invoke: () => 1 }; export default { tools: [x, { ...x }] };',
      /tools has two tools named "x"/,
    ],
    [
      "two tools for one command",
      'const x = { name: "a_b", schema: { type: "object" }, invoke: () => 1 }; export default { tools: [x, { ...x, name: "a-b" }] };',
      /The command "a-b" is ambiguous: the tools "a_b" and "a-b" both need it/,
    ],
  ])("%s", async (_what, text, words) => {
    const folder = createFolder(text === undefined ? {} : { "toolwright.config.ts": text });
    const listed = await toolwright(folder, ["tools"]);
    expect(listed).toMatchObject({ code: 1, stdout: "", stderr: expect.stringMatching(words) });
    expect(listed.stderr).not.toMatch(/^ {4}at /m);
    if (text === undefined) return;
    const asJson = await toolwright(folder, ["some", "tool", "--json"]);
    expect(asJson).toMatchObject({ code: 1 });
    expect(asJson.json()).toMatchObject({ error: { message: expect.stringMatching(/./) } });
  });

  it.each(["mts", "js", "mjs"])("loads toolwright.config.%s too", async (ending) => {
    const folder = createFolder({
      [`toolwright.config.${ending}`]:
        'export default { tools: [{ name: "x", schema: { type: "object" }, invoke: () => "done" }] };',
    });
    expect(await toolwright(folder, ["x"])).toMatchObject({ code: 0, stdout: "done\n" });
  });
});

describe("without a terminal", () => {
  it("leaves the request, says what to type with exit code 3, and resumes after the approval", async () => {
    const folder = createProject();
    const waiting = await toolwright(folder, ["pay", "70", "--run-id", "r"]);
    expect(waiting).toMatchObject({ code: 3, stdout: "" });
    expect(waiting.stderr).toMatch(
      /^waiting: Pay 70 euros\?\n {2}pay \{"euros":70\}\n {2}Approve it: .* approve apr_\S+\n {2}Deny it: .* deny apr_\S+\nThen run the same command again with: {2}--run-id r\n$/,
    );
    const asJson = await toolwright(folder, ["pay", "70", "--run-id", "r", "--json"]);
    expect(asJson).toMatchObject({ code: 3 });
    const pending = asJson.json() as { approval_id: string };
    expect(pending).toMatchObject({ is_error: true, error_type: "approval_pending", run_id: "r" });
    const approved = await toolwright(folder, ["approve", pending.approval_id, "--args", '{"euros":7}']);
    expect(approved.stdout).toContain("the same command again with --run-id r");
    const done = await toolwright(folder, ["pay", "70", "--run-id", "r", "--json"]);
    expect(done).toMatchObject({ code: 0 });
    expect(done.json()).toEqual({ paid: 7, to: "Bo" });
    const again = await toolwright(folder, ["pay", "70", "--run-id", "r", "--json"]);
    expect(again.json()).toEqual({ paid: 7, to: "Bo" });
    expect(readFileSync(join(folder, "paid.txt"), "utf8")).toMatch(/^7 Bo \S+\n$/);
  });

  it("exits with 4 when it was denied, with the comment", async () => {
    const folder = createProject();
    await toolwright(folder, ["pay", "70", "--run-id", "r"]);
    await toolwright(folder, ["deny", "r", "--comment", "not today"]);
    const denied = await toolwright(folder, ["pay", "70", "--run-id", "r", "--json"]);
    expect(denied).toMatchObject({ code: 4 });
    expect(denied.json()).toMatchObject({
      error_type: "approval_denied",
      message: expect.stringMatching(/not today/),
    });
    expect(existsSync(join(folder, "paid.txt"))).toBe(false);
  });
});

it.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)("is stopped by %s, and the outcome is logged as unknown", async (signal, code) => {
  const folder = createProject();
  for (const words of [["wait"], ["wait", "--stubborn"]]) {
    const runId = words.join("");
    const command = start(folder, [...words, "--run-id", runId]);
    await command.saying("waiting");
    command.child.kill(signal);
    const { code: ended, stderr } = await command.ended;
    expect(ended).toBe(code);
    expect(stderr).toContain("error: ");
    expect(stderr).toMatch(new RegExp(`The effect may have happened[^]*--run-id ${runId}`));
    expect(stderr).not.toContain("nothing more can be done");
    const calls = await toolwright(folder, ["calls", runId, "--json"]);
    expect(calls.json()).toMatchObject([{ toolName: "wait", status: "unknown", effect: null }]);
  }
});

it("names the run of a call that was stopped and had no explicit run id", async () => {
  const folder = createProject();
  const command = start(folder, ["wait", "--json"]);
  await command.sayingOnStderr("waiting");
  command.child.kill("SIGINT");
  const { stdout, stderr } = await command.ended;
  const [, runId = ""] = /^ {4}--run-id (\S+)$/m.exec(stderr) ?? [];
  expect(JSON.parse(stdout)).toMatchObject({
    run_id: runId,
    next_action_hint: expect.stringContaining(`--run-id ${runId}`),
  });
  const calls = await toolwright(folder, ["calls", runId, "--json"]);
  expect(calls.json()).toMatchObject([{ toolName: "wait", status: "unknown" }]);
});

it("keeps the calls of concurrent commands in one store apart", async () => {
  const folder = createProject();
  const results = await Promise.all(
    [1, 2, 3, 4, 5, 6].map((n) => toolwright(folder, ["slow", String(n), "--run-id", `r${n}`, "--json"])),
  );
  expect(results.map((result) => [result.code, result.json()])).toEqual(
    [1, 2, 3, 4, 5, 6].map((n) => [0, { n }]),
  );
  const calls = await toolwright(folder, ["calls", "r3", "--json"]);
  expect(calls.json()).toMatchObject([{ inputJson: '{"n":3}', status: "success" }]);
});

it("reports an error that a tool throws in the background in one sentence", async () => {
  const folder = createFolder({
    "toolwright.config.ts": `export default { tools: [{ name: "x", schema: { type: "object" }, invoke: () =>
      new Promise(() => setTimeout(() => { throw new Error("lost"); }, 10)) }] };`,
  });
  expect(await toolwright(folder, ["x"])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^toolwright: lost\n/),
  });
});

it("fails with an error when a tool awaits a promise that never settles", async () => {
  const folder = createFolder({
    "toolwright.config.ts": CONFIG.replace(
      "execute: (args: object) => args",
      "execute: () => new Promise(() => undefined)",
    ),
  });
  const ended = await toolwright(folder, ["inspect_all", "--json"]);
  expect(ended).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/"inspect_all" awaits .* never settle/),
  });
  expect(ended.json()).toMatchObject({ is_error: true, error_type: "execution_failed" });
});

it("explains the run of a command, and names a run that does not exist", async () => {
  const folder = createProject();
  await toolwright(folder, ["notes", "write", "a", "--run-id", "r"]);
  const why = await toolwright(folder, ["why", "r"]);
  expect(why).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/finished[^]*inspect r/),
  });
  expect((await toolwright(folder, ["why", "none"])).stderr).toContain('There is no run "none"');
});
