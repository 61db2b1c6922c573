/** Texts at the terminal: the same errors as for a model, and help that marks the required fields. */
import { createRuntime, defineTool } from "toolwright";
import { contextTools } from "toolwright/tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { run } from "./program.ts";

const tool = defineTool({
  name: "t",
  description: "Takes many kinds of values.",
  schema: z.object({
    mode: z.enum(["fast", "slow"]),
    count: z.int().min(1).optional(),
    share: z.number().nullable().optional(),
    force: z.boolean().nullable().optional(),
    ids: z.array(z.number()).optional(),
    env: z.record(z.string(), z.number()).optional(),
    to: z.object({ name: z.string() }).optional(),
    when: z.iso.date().optional(),
  }),
  execute: (args) => args,
});

const CASES: readonly (readonly [readonly string[], unknown])[] = [
  [["medium"], { mode: "medium" }],
  [["fast", "--count", "many"], { mode: "fast", count: "many" }],
  [["fast", "--count", "0"], { mode: "fast", count: 0 }],
  [["fast", "--count", "1.5"], { mode: "fast", count: 1.5 }],
  [["fast", "--share", "half"], { mode: "fast", share: "half" }],
  [["fast", "--force", "perhaps"], { mode: "fast", force: "perhaps" }],
  [["fast", "--ids", "1", "--ids", "x"], { mode: "fast", ids: [1, "x"] }],
  [["fast", "--env", "a=b"], { mode: "fast", env: { a: "b" } }],
  [["fast", "--env", "a"], { mode: "fast", env: "a" }],
  [["fast", "--to", "{broken"], { mode: "fast", to: "{broken" }],
  [["fast", "--to", "[1]"], { mode: "fast", to: [1] }],
  [["fast", "--when", "soon"], { mode: "fast", when: "soon" }],
  [["--count", "2"], { count: 2 }],
  [["--input", "[1]"], [1]],
];

describe("invalid input at the terminal", () => {
  it.each(CASES)("%j is refused with the message that a model gets", async (words, value) => {
    await using runtime = createRuntime({ store: ":memory:" });
    const outcome = await runtime.call(tool, value as never);
    const told = outcome.status === "error" ? outcome.error.message : "";
    const typed = await run([tool], ["t", ...words]);
    expect(typed).toMatchObject({ code: 2, stdout: "" });
    expect(typed.stderr).toContain(`error: ${told}\n`);
    const asJson = await run([tool], ["t", ...words, "--json"]);
    expect(asJson.json()).toMatchObject({ is_error: true, error_type: "input_invalid", message: told });
  });

  it("is refused even if a nested option would replace it, or the schema accepts anything", async () => {
    const replaced = await run([tool], ["t", "fast", "--to", "{broken", "--to.name", "Bo"]);
    expect(replaced).toMatchObject({ code: 2, stderr: expect.stringContaining("--to takes JSON such as") });
    const loose = defineTool({
      name: "loose",
      schema: z.object({ n: z.preprocess((value) => Number(value) || 0, z.number()) }),
      execute: (args) => args,
    });
    expect(await run([loose], ["loose", "--n", "5"])).toMatchObject({ code: 0 });
  });
});

const connect = defineTool({
  name: "connect",
  description: "Connects.",
  schema: z.object({
    host: z.string(),
    port: z.number(),
    body: z.string(),
    note: z.string().optional(),
    mode: z.enum(["a", "b"]).default("b"),
  }),
  cli: {
    positionals: {
      name: "target",
      parse: (text) => {
        const [host, port] = text.split(":");
        return { host, port: Number(port) };
      },
    },
  },
  execute: (args) => args,
});

describe("a positional of the form { name, parse }", () => {
  it("is required if it sets a required field; other required fields are marked", async () => {
    const { stdout } = await run([connect], ["connect", "--help"]);
    expect(stdout).toMatch(/^Usage: prog connect <target> \[options\]/);
    expect(stdout).toMatch(/target +\(required\) sets --host and --port\n/);
    expect(stdout).toMatch(/--host <text> +\(instead of <target>\)\n/);
    expect(stdout).toMatch(/--body <text> +\(required\)\n/);
    expect(stdout).toMatch(/--note <text>\n/);
    expect(stdout).toMatch(/Example:\n {2}prog connect TARGET --body BODY --mode a\n/);
  });

  it("is optional if it sets optional fields only", async () => {
    const { stdout } = await run([contextTools.context_tree], ["context", "tree", "--help"]);
    expect(stdout).toMatch(/^Usage: prog context tree\S* \[drive:\/path\] \[options\]/);
    expect(stdout).not.toContain("required");
    const write = await run([contextTools.context_write], ["context", "write", "--help"]);
    expect(write.stdout).toMatch(/drive:\/path +\(required\)[^]*content +.*\(required\)/);
  });

  it("marks fields that it may set, if no sample can be parsed", async () => {
    const odd = defineTool({
      name: "odd",
      description: "Odd.",
      schema: z.object({ a: z.string(), b: z.string().optional() }),
      cli: {
        positionals: {
          name: "x",
          parse: (text) => {
            if (!text.startsWith("!!")) throw new Error("must start with !!");
            return { a: text };
          },
        },
      },
      execute: (args) => args,
    });
    const { stdout } = await run([odd], ["odd", "--help"]);
    expect(stdout).toMatch(/<x>/);
    expect(stdout).toMatch(/--a <text> +\(required, unless <x> sets it\)/);
    expect(stdout).toMatch(/--b <text>\n/);
  });

  it("is refused together with an option for one of its fields", async () => {
    for (const words of [
      ["a:1", "--host", "b", "--body", "x"],
      ["a:1", "--port", "1", "--body", "x"],
    ]) {
      const { code, stderr } = await run([connect], ["connect", ...words]);
      expect(code).toBe(2);
      expect(stderr).toMatch(/and <target> both set "(?:host|port)"/);
    }
    const tree = await run([contextTools.context_tree], ["context", "tree", "notes:/a", "--path", "/"]);
    expect(tree).toMatchObject({ code: 2, stdout: "" });
    expect(tree.stderr).toContain(
      '--path and <drive:/path> both set "path" (<drive:/path> sets it to "/a").',
    );
    const asJson = await run(
      [contextTools.context_tree],
      ["context", "tree", "notes:/a", "--drive", "x", "--json"],
    );
    expect(asJson.json()).toMatchObject({ is_error: true, error_type: "input_invalid" });
    const alone = await run([connect], ["connect", "--host", "b", "--port", "1", "--body", "x", "--json"]);
    expect(alone.json()).toMatchObject({ host: "b", port: 1, mode: "b" });
  });
});
