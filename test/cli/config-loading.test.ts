/** The configuration of a folder is a program: which commands run it, and which do not. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createFolder, toolwright } from "./command.ts";

const CONFIG = `
import { writeFileSync } from "node:fs";
import { defineTool } from "toolwright";
import { z } from "zod";
writeFileSync("ran.txt", "the configuration was run");
const call = defineTool({ name: "call", description: "Calls.", schema: z.object({}), execute: () => "called" });
export default { tools: [call] };
`;

const run = async (args: readonly string[], prepare: (folder: string) => void = () => undefined) => {
  const folder = createFolder({ "toolwright.config.ts": CONFIG });
  prepare(folder);
  const said = await toolwright(folder, args);
  return { ...said, hasRun: existsSync(join(folder, "ran.txt")) };
};

describe("a misspelt command", () => {
  it.each([
    ["aprove", "approve"],
    ["approvles", "approvals"],
    ["resmue", "resume"],
    ["inspct", "inspect"],
    ["pu", "up"],
    ["hlep", "help"],
    ["WHY", "why"],
    ["call", "calls"],
  ])("%s gets the suggestion %s, and runs no code of the folder", async (typed, meant) => {
    const said = await run([typed, "x"]);
    expect(said).toMatchObject({ code: 1, hasRun: false });
    expect(said.stderr).toContain(`Did you mean ${meant}?`);
    expect((await run([typed, "x", "--json"])).json()).toMatchObject({ error: { code: "CLI_USAGE" } });
  });

  it("can be named explicitly as a tool", async () => {
    const said = await run(["tool", "call"]);
    expect(said).toMatchObject({ code: 0, stdout: "called\n", hasRun: true });
  });

  it("that resembles no command may be a tool, so the configuration is loaded", async () => {
    expect(await run(["fly"])).toMatchObject({ code: 1, hasRun: true });
  });
});

describe("commands that need no configuration", () => {
  it.each([
    [["ps", "--store", "other.db"]],
    [["approvals", "--store", "other.db"]],
    [["why", "r", "--store", "other.db"]],
    [["doctor", "--store", "other.db"]],
    [["--help"]],
    [["help", "up"]],
    [["ps", "--help"]],
    [["--version"]],
  ])("%j does not run it", async (args) => {
    expect((await run(args)).hasRun).toBe(false);
  });

  it.each([[["ps"]], [["approvals"]], [["doctor"]]])(
    "%j runs it, because it may name the store",
    async (args) => {
      expect((await run(args)).hasRun).toBe(true);
    },
  );

  it("capabilities does not run it if there is a file to show", async () => {
    const said = await run(["capabilities"], (folder) => {
      mkdirSync(join(folder, ".toolwright"));
      writeFileSync(join(folder, ".toolwright/capabilities.md"), "What there is.\n");
    });
    expect(said).toMatchObject({ code: 0, stdout: expect.stringContaining("What there is."), hasRun: false });
  });
});
