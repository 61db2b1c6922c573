/** The generated commands, their arguments, and usage errors. */
import { Command } from "commander";
import { createRegistry, createRuntime, defineTool, registerTool, registerToolsAsCLI } from "toolwright";
import { registerToolsAsCLI as fromSubpath } from "toolwright/commander";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { run } from "./program.ts";

const place = {
  name: "place",
  parse: (text: string) => {
    const [, drive, path] = /^([a-z]+):(\/.*)$/.exec(text) ?? [];
    if (drive === undefined) throw new Error("drive:/path is expected");
    return { drive, path };
  },
};

const contextRead = defineTool({
  name: "context_read",
  description: "Read a context item. In parts, if it is long.",
  group: "context",
  schema: z.object({
    drive: z.string(),
    path: z.string(),
    offset: z.int().min(1).optional().describe("First line"),
    limit: z.int().min(1).default(100).describe("How many lines"),
  }),
  cli: { positionals: place, aliases: { limit: "-n" } },
  execute: (args) => args,
});
const contextTree = defineTool({
  name: "context_tree",
  group: "context",
  schema: z.object({ drive: z.string(), path: z.string(), max_depth: z.int().optional() }),
  cli: { positionals: [place] },
  execute: (args) => args,
});
const semantic = defineTool({
  name: "search_semantic",
  group: "search",
  schema: z.object({ query: z.string() }),
  execute: (args) => args,
});

describe("the seed's commands", () => {
  const tools = [contextRead, contextTree, semantic];

  it.each([
    [
      ["context", "read", "disk:/Users/evan/notes/meeting.md", "--offset", "10", "--limit", "20"],
      { drive: "disk", path: "/Users/evan/notes/meeting.md", offset: 10, limit: 20 },
    ],
    [
      ["context", "tree", "disk:/Users/evan/notes", "--max-depth", "3"],
      { drive: "disk", path: "/Users/evan/notes", max_depth: 3 },
    ],
    [["search", "semantic", "quarterly revenue"], { query: "quarterly revenue" }],
    [["context", "context_tree", "disk:/a"], { drive: "disk", path: "/a" }],
    [["context_tree", "disk:/a"], { drive: "disk", path: "/a" }],
    [["context", "read", "--drive", "disk", "--path=/a", "-n5"], { drive: "disk", path: "/a", limit: 5 }],
  ])("%j", async (argv, output) => {
    const ran = await run(tools, [...argv, "--json"]);
    expect(ran.json()).toEqual(output);
    expect(ran.code).toBe(0);
  });

  it("prints the validation error that the model gets, and the usage", async () => {
    const runtime = createRuntime({ store: ":memory:" });
    const outcome = await runtime.call(contextRead, { drive: "disk", path: "/a", offset: 0 }, { runId: "r" });
    if (outcome.status !== "error") throw new Error(outcome.status);
    const typed = ["context", "read", "disk:/a", "--offset", "0"];
    const ran = await run(tools, typed, { runtime });
    expect(ran).toMatchObject({ code: 2, stdout: "" });
    expect(ran.stderr).toBe(
      `error: ${outcome.error.message}\n  ${outcome.error.hint}\n  Usage: prog context read <place> [options]\n`,
    );
    expect((await run(tools, [...typed, "--json"], { runtime })).json()).toEqual(outcome.error.toModel());
    await runtime[Symbol.asyncDispose]();
  });

  it("has readable help", async () => {
    const { stdout } = await run(tools, ["context", "read", "--help"]);
    expect(stdout).toMatch(/^Usage: prog context read\|context_read <place> \[options\]/);
    expect(stdout).toContain("Read a context item. In parts, if it is long.");
    expect(stdout).toMatch(/place +\(required\)/);
    expect(stdout).toMatch(/--offset <integer> +First line\n/);
    expect(stdout).toMatch(/-n, --limit <integer> +How many lines \(default: 100\)/);
    expect(stdout).toMatch(/Example:\n {2}prog context read PLACE --offset 10\n/);
    expect((await run(tools, ["--help"])).stdout).toMatch(/context +tools of the group context\n/);
  });
});

describe("options", () => {
  const everything = defineTool({
    name: "t",
    schema: z.object({
      mode: z.enum(["fast", "slow"]),
      isDry: z.boolean().default(true).describe("Change nothing"),
      tags: z.array(z.string()).default([]),
      to: z.object({ name: z.string(), zipCode: z.string().nullable() }).optional(),
      env: z.record(z.string(), z.number()).optional(),
      at: z.iso.datetime().optional(),
    }),
    execute: (args) => args,
  });

  it.each([
    [["fast", "--no-is-dry"], { isDry: false }],
    [["fast", "--is-dry"], { isDry: true }],
    [["fast", "--tags", "a", "--tags", '["b","c"]', "--tags", "d"], { tags: ["a", "b", "c", "d"] }],
    [["fast", "--to.name", "Bo", "--to.zip-code", "null"], { to: { name: "Bo", zipCode: null } }],
    [
      ["fast", "--to.name", "Bo", "--to", '{"name":"Al","zipCode":"1"}'],
      { to: { name: "Bo", zipCode: "1" } },
    ],
    [["fast", "--env", "a=1", "--env", '{"b":2}'], { env: { a: 1, b: 2 } }],
    [["--mode", "slow"], { mode: "slow" }],
    [["--input", '{"mode":"slow","tags":["x"]}', "--tags", "y"], { mode: "slow", tags: ["y"] }],
  ])("%j", async (words, part) => {
    const ran = await run([everything], ["t", ...words, "--json"]);
    expect(ran.json()).toEqual({
      mode: "fast",
      isDry: true,
      tags: [],
      ...part,
    });
  });

  it("shows defaults, choices, required fields and both forms of a flag", async () => {
    const { stdout } = await run([everything], ["t", "--help"]);
    expect(stdout).toMatch(/mode +one of fast, slow \(required; choices: fast, slow\)/);
    expect(stdout).toMatch(/--is-dry +Change nothing \(default: true\)\n +--no-is-dry /);
    expect(stdout).toMatch(/--tags <text> +\(repeat it, or JSON; default: \[\]\)/);
    expect(stdout).toMatch(/--to\.zip-code <text> +\(null for none\)/);
    expect(stdout).not.toMatch(/--mode/);
  });

  it.each([
    [["medium"], /mode: Invalid option: expected one of "fast"\|"slow"\.\n.*<mode> takes one of fast, slow/],
    [["--mode", "medium"], /mode: Invalid option[^]*--mode takes one of fast, slow, not "medium"/],
    [["fast", "--to", "{broken"], /--to takes JSON such as \{"name": …, "zipCode": …\}, not "\{broken"/],
    [["fast", "--env", "a"], /--env takes key=value or JSON such as/],
    [["fast", "--env", "a=b"], /--env a takes a number, not "b"/],
    [["fast", "slow"], /too many arguments[^]*\n {2}See: \S+ t --help$/],
    [["fast", "--mode", "slow"], /unexpected argument "fast"/],
    [["fast", "--tags"], /option '--tags <text>' argument missing/],
    [["fast", "--is-dri"], /unknown option '--is-dri'[^]*--is-dry[^]*\n {2}See: \S+ t --help$/],
    [["fast", "--input", "[1]"], /--input takes JSON such as/],
  ])("refuses %j with a message and exit code 2", async (words, expected) => {
    const ran = await run([everything], ["t", ...words]);
    expect(ran).toMatchObject({ code: 2, stdout: "" });
    expect(ran.stderr.trim()).toMatch(expected);
    const asJson = await run([everything], ["t", ...words, "--json"]);
    if (asJson.code === 2 && asJson.stdout !== "") {
      expect(asJson.json()).toEqual({
        is_error: true,
        error_type: "input_invalid",
        message: expect.any(String),
        next_action_hint: expect.stringMatching(/--help|Correct/),
      });
    }
  });

  it("reports a missing value with the schema's message", async () => {
    const { stderr, code } = await run([everything], ["t"]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/Tool "t" cannot take this input: mode: Invalid option/);
  });

  it("renames its own options if fields have the same names", async () => {
    const greedy = defineTool({
      name: "t",
      schema: z.object({
        json: z.string().optional(),
        input: z.string().optional(),
        runId: z.string().optional(),
        version: z.string().optional(),
        help: z.string().optional(),
        noCache: z.boolean().optional(),
        constructor: z.string(),
        fooBar: z.string().optional(),
        foo_bar: z.string().optional(),
      }),
      execute: (args, ctx) => ({ ...args, ran: ctx.runId }),
    });
    const words = ["t", "--field-json", "a", "--input", "b", "--run-id", "c", "--field-version", "d"];
    const more = [
      "--field-help",
      "e",
      "--no-cache",
      "--constructor",
      "h",
      "--foo-bar",
      "f",
      "--foo_bar",
      "g",
      "--tool-run-id",
      "r",
      "--json",
    ];
    const ran = await run([greedy], [...words, ...more], { prepare: (program) => program.version("1.2.3") });
    expect(ran.json()).toEqual({
      json: "a",
      input: "b",
      runId: "c",
      version: "d",
      help: "e",
      noCache: true,
      constructor: "h",
      fooBar: "f",
      foo_bar: "g",
      ran: "r",
    });
  });

  it("accepts all remaining words as a list in the last position", async () => {
    const tool = defineTool({
      name: "copy",
      schema: z.object({ files: z.array(z.string()), to: z.string() }),
      cli: { positionals: ["to", "files"] },
      execute: (args) => args,
    });
    const ran = await run([tool], ["copy", "there", "a", "-5", "--json", "b"]);
    expect(ran.json()).toEqual({ to: "there", files: ["a", "-5", "b"] });
  });

  it("takes the whole input of a tool whose input is not an object with fields", async () => {
    const text = defineTool({ name: "shout", schema: z.string(), execute: (value) => value.toUpperCase() });
    expect(await run([text], ["shout", "--input", "hi"])).toMatchObject({ code: 0, stdout: "HI\n" });
    const free = defineTool({ name: "any", schema: z.record(z.string(), z.int()), execute: (args) => args });
    expect((await run([free], ["any", "--input", '{"a":1}', "--json"])).json()).toEqual({ a: 1 });
  });
});

describe("names", () => {
  const named = (name: string, group?: string) =>
    defineTool({
      name,
      ...(group === undefined ? {} : { group }),
      schema: z.object({}),
      execute: () => name,
    });

  it.each([
    [named("place_order"), ["place-order"]],
    [named("place_order"), ["place_order"]],
    [named("shop.placeOrder", "shop"), ["shop", "place-order"]],
    [named("complete_task", "task"), ["task", "complete-task"]],
    [named("bash", "bash"), ["bash", "bash"]],
    [named("contextual", "context"), ["context", "contextual"]],
  ])("%#: %j", async (tool, words) => {
    expect(await run([tool], words)).toMatchObject({ code: 0, stdout: `${tool.name}\n` });
  });

  it.each([
    [[named("a_b"), named("a-b")], 'The command "a-b" is ambiguous: the tools "a_b" and "a-b" both need it.'],
    [
      [named("g_x", "g"), named("x", "g")],
      'The command "g x" is ambiguous: the tools "g_x" and "x" both need it.',
    ],
    [
      [named("search"), named("search_all", "search")],
      'The command "search" is ambiguous: the tool "search" and the group of the tool "search_all" both need it.',
    ],
    [[named("___")], 'Tool "___": name "___" contains no letter or digit, so it cannot be a command.'],
  ])("refuses two tools for one command, %#", (tools, message) => {
    expect(() => registerToolsAsCLI(new Command(), { registry: createRegistry(tools) })).toThrow(message);
  });

  it("gives an alias only if it is not the name of another command", async () => {
    const tools = [named("git-log", "git"), named("git_log")];
    expect(await run(tools, ["git-log"])).toMatchObject({ stdout: "git_log\n" });
    expect(await run(tools, ["git", "git-log"])).toMatchObject({ stdout: "git-log\n" });
    expect(await run(tools, ["git", "push"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("unknown command 'push'"),
    });
  });

  it("never replaces a command of the program", () => {
    const program = new Command();
    program.command("status").action(() => undefined);
    const registry = createRegistry([named("all", "status")]);
    expect(() => registerToolsAsCLI(program, { registry })).toThrow(
      'The tool "all" needs the command "status", which the program already has.',
    );
  });

  it("adds to an existing group, from two registries", async () => {
    const second = createRegistry([named("b", "g")]);
    const runtime = createRuntime({ store: ":memory:" });
    const program = new Command().configureOutput({ writeOut: (text) => said.push(text) });
    const said: string[] = [];
    fromSubpath(program, { registry: createRegistry([named("a", "g")]), runtime });
    fromSubpath(program, { registry: second, runtime });
    await program.parseAsync(["g", "b"], { from: "user" });
    expect(said).toEqual(["b\n"]);
    await runtime[Symbol.asyncDispose]();
  });

  it("uses the default registry, and hides hidden tools", () => {
    registerTool(defineTool({ name: "seen_tool", schema: z.object({}), execute: () => 1 }));
    registerTool(
      defineTool({ name: "hidden_tool", schema: z.object({}), cli: { hidden: true }, execute: () => 1 }),
    );
    const program = new Command("prog");
    registerToolsAsCLI(program);
    expect(program.helpInformation()).toContain("seen-tool");
    expect(program.helpInformation()).not.toContain("hidden-tool");
    expect(program.commands.map((command) => command.name())).toContain("hidden-tool");
  });

  it.each([
    [
      { positionals: ["nope"] },
      /cli\.positionals names "nope", which is not a field of the input; it has depth/,
    ],
    [{ aliases: { nope: "-n" } }, /cli\.aliases names "nope", which is not a field/],
    [{ aliases: { depth: "d" } }, /cli\.aliases\.depth must be a dash and a letter such as "-d", not "d"/],
    [{ aliases: { depth: "-h" } }, /cli\.aliases\.depth is "-h", which is already in use/],
    [{ positionals: { name: "x" } }, /cli\.positionals must be an array of fields, or \{ name, parse \}/],
    [{ positionals: [7] }, /cli\.positionals must be an array of fields/],
    [{ aliases: { depth: 7 } }, /cli\.aliases must be an object such as/],
  ])("refuses an impossible definition, %j", (cli, message) => {
    const define = () =>
      defineTool({ name: "t", schema: z.object({ depth: z.int() }), cli: cli as never, execute: () => 1 });
    expect(() => registerToolsAsCLI(new Command(), { registry: createRegistry([define()]) })).toThrow(
      message,
    );
  });

  it("reports an invalid value of a positional that sets several fields", async () => {
    const { code, stderr } = await run([contextRead], ["context", "read", "nowhere"]);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr:
        'error: <place> cannot be "nowhere": drive:/path is expected\n  See: prog context read --help\n',
    });
  });
});
