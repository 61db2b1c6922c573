/** Usage errors: a message and the next step on stderr and, with --json, the common error shape on stdout. */
import { describe, expect, it } from "vitest";
import { createFolder, toolwright } from "./command.ts";

const COMMANDS =
  "up resume ps inspect calls why approvals approve deny cancel capabilities gc mcp tools init test doctor";

const CASES: readonly (readonly [readonly string[], RegExp])[] = [
  [["fly"], /unknown command 'fly'/],
  [["resum"], /There is no command resum\. Did you mean resume\?/],
  [["help", "fly"], /unknown command fly/],
  [[], /A command is missing/],
  [["--nope"], /unknown option '--nope'/],
  [["up"], /missing required argument 'file'/],
  [["why"], /missing required argument 'run-id'/],
  [["approve"], /missing required argument 'id'/],
  [["ps", "extra"], /too many arguments for 'ps'/],
  [["ps", "--limit", "x"], /'--limit <runs>' argument 'x' is invalid\. It must be a whole number from 1/],
  [["ps", "--limit", "0"], /whole number from 1/],
  [["ps", "--limit", "1.5"], /whole number from 1/],
  [["ps", "--jsn"], /unknown option '--jsn' \(Did you mean --json\?\)/],
  [["ps", "--status", "sleeping"], /Allowed choices are .*interrupted/],
  [["approvals", "--status", "x"], /Allowed choices are pending/],
  [["gc", "--older-than", "soon"], /a number with a unit/],
  [["up", "w.tsx", "--concurrency", "-1"], /whole number from 1/],
  [["up", "w.tsx", "--resume"], /--resume needs --run-id/],
  [["approve", "a", "--args", "{}", "--run-again"], /cannot be combined/],
  [["mcp", "--http", "x"], /whole number from 0/],
  [["mcp"], /--json needs --http/],
];

const SHAPE = {
  error: { code: "CLI_USAGE", message: expect.any(String), hint: expect.stringMatching(/\S/) },
};

it.each([
  ["false", "A switch takes no value. Write: --no-allow-network"],
  ["true", "A switch takes no value. Write: --allow-network"],
])("a switch with the value %s gets a hint with the correct form", async (value, hint) => {
  const { code, stderr } = await toolwright(createFolder(), ["up", "w.tsx", `--allow-network=${value}`]);
  expect(code).toBe(1);
  expect(stderr).toContain(hint);
});

describe("a usage error", () => {
  it.each(CASES)("%j is JSON on stdout and a message on stderr, with exit code 1", async (args, words) => {
    const { code, json, stderr } = await toolwright(createFolder(), [...args, "--json"]);
    expect(json()).toEqual(SHAPE);
    expect((json() as typeof SHAPE).error.message).toMatch(words);
    expect(stderr).toMatch(/^toolwright: .+\n {2}\S/);
    expect(code).toBe(1);
  });

  it("of every command names the command's own help", async () => {
    const folder = createFolder();
    const results = await Promise.all(
      COMMANDS.split(" ").map(async (name) => {
        const { code, json } = await toolwright(folder, [name, "--no-such-option", "--json"]);
        return [name, code, json()];
      }),
    );
    expect(results).toEqual(
      COMMANDS.split(" ").map((name) => [
        name,
        1,
        {
          error: {
            code: "CLI_USAGE",
            message: "unknown option '--no-such-option'",
            hint: expect.stringMatching(new RegExp(` ${name} --help$`)),
          },
        },
      ]),
    );
  });

  it("prints nothing on stdout without --json, even if --json is an argument", async () => {
    const folder = createFolder();
    expect(await toolwright(folder, ["ps", "--nope"])).toMatchObject({ code: 1, stdout: "" });
    expect(await toolwright(folder, ["why", "--", "a", "--json"])).toMatchObject({ code: 1, stdout: "" });
  });

  it("cannot forge lines of the output", async () => {
    const { stderr } = await toolwright(createFolder(), ["ps", "a\ntoolwright: all is well\u001B[31m"]);
    expect(stderr).not.toMatch(/^toolwright: all is well/m);
    expect(stderr).not.toContain("\u001B");
  });
});

it("reports a group of tools without a command as JSON too", async () => {
  const folder = createFolder({
    "toolwright.config.ts":
      'import { contextTools } from "toolwright/tools";\nexport default { tools: contextTools };\n',
  });
  const { code, json } = await toolwright(folder, ["context", "--json"]);
  expect(code).toBe(2);
  expect(json()).toMatchObject({
    is_error: true,
    message: expect.stringMatching(/^missing command. "context" has: .*read.*tree/),
  });
});
