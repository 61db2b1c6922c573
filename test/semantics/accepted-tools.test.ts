/** Which values are accepted as a tool or as tools, and how they are read. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { tool as langChainTool } from "@langchain/core/tools";
import { Command } from "commander";
import {
  createRegistry,
  createRuntime,
  createSmartAgent,
  defineTool,
  fromTool,
  getDefinedToolMetadata,
  registerToolsAsCLI,
  toAnthropicTools,
  toTools,
} from "toolwright";
import { toAISDKTools } from "toolwright/ai-sdk";
import { toLangChainTools } from "toolwright/langchain";
import { createMcpServer } from "toolwright/mcp";
import { toOpenAIAgentTools } from "toolwright/openai-agents";
import { createScriptedModel } from "toolwright/testing";
import { bashTool, capabilitiesTools, runWithToolContext } from "toolwright/tools";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { z } from "zod";
import { createWorld } from "./harness.ts";

const schema = z.object({ q: z.string() });

function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "toolwright-given-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const look = defineTool({ name: "look", schema, execute: () => 1 });

describe("a registry passed as tools is read as its tools", () => {
  const registry = createRegistry([look]);
  const names = (tools: readonly { readonly name: string }[]): string[] => tools.map(({ name }) => name);

  it.each<[string, () => string[]]>([
    ["toTools", () => names(toTools(registry))],
    ["createRegistry", () => names(createRegistry(registry).all())],
    ["toAISDKTools", () => Object.keys(toAISDKTools(registry))],
    ["toAnthropicTools", () => names(toAnthropicTools(registry))],
    ["toLangChainTools", () => names(toLangChainTools(registry))],
    ["toOpenAIAgentTools", () => names(toOpenAIAgentTools(registry))],
    [
      "createMcpServer",
      () => {
        const server = createMcpServer({ tools: registry });
        return Object.keys((server as unknown as { _registeredTools: object })._registeredTools);
      },
    ],
    [
      "createSmartAgent",
      () => {
        const agent = createSmartAgent({ model: createScriptedModel([]), tools: registry });
        const hint = agent.snapshot({ turn: {}, messages: [] } as never).runtimeHint.tools;
        return hint.filter((name) => !["manage_todo_list", "get_tool_response"].includes(name));
      },
    ],
  ])("%s", (_name, namesOf) => {
    expect(namesOf()).toEqual(["look"]);
  });

  it("createRuntime", async () => {
    const rootDir = createFolder();
    await using runtime = createRuntime({ store: ":memory:", rootDir, tools: registry });
    const { capabilities_refresh } = capabilitiesTools;
    const outcome = await runtime.call(capabilities_refresh, {}, { runId: "r" });
    expect(outcome).toMatchObject({ status: "success", output: { tools: 1 } });
  });

  it("but is not a tool itself, and a list is not a registry", () => {
    expect(() => fromTool(registry)).toThrow(/must be a tool, not a registry/);
    expect(() => toTools([registry])).toThrow(/must be a tool, not a registry/);
    expect(() => registerToolsAsCLI(new Command(), { registry: [look] as never })).toThrow(
      /^registerToolsAsCLI: registry must be a registry/,
    );
    expect(() => createMcpServer({ registry: [look] as never })).toThrow(
      /^createMcpServer: registry must be/,
    );
  });
});

describe("a function", () => {
  it.each<[string, unknown]>([
    ["a function", () => 1],
    ["an async function", async () => 1],
    ["a class", class Helper extends Array {}],
    ["a function with a schema", Object.assign(() => 1, { schema, description: "d" })],
  ])("is not a tool: %s", (_what, value) => {
    expect(() => fromTool(value as object)).toThrow(
      expect.objectContaining({
        code: "TOOL_DEFINITION_INVALID",
        message: expect.stringContaining("must be a tool, not a function"),
        hint: expect.stringContaining("defineTool({ name, schema, execute })"),
      }),
    );
    expect(() => toTools({ helper: value as object })).toThrow(
      /tools\.helper must be a tool, not a function/,
    );
    expect(() => toTools([look, value as object])).toThrow(/tools\.1 must be a tool, not a function/);
    expect(() => createRegistry().register(value as object)).toThrow(/not a function/);
  });
});

describe("a third-party tool", () => {
  const foreign = { name: "f", schema, invoke: () => 1 };

  it("with retry is refused with a fix, unless it may be repeated", () => {
    const retry = { maxRetries: 2 };
    expect(() => fromTool(foreign, { retry })).toThrow(
      /Tool "f": retry cannot be set .* sideEffect: false; .* idempotent: true/,
    );
    expect(() => fromTool({ ...foreign, retry })).toThrow(/retry cannot be set/);
    const lc = langChainTool(() => "1", { name: "lc", description: "d", schema });
    expect(() => fromTool(lc, { retry })).toThrow(/Tool "lc": retry cannot be set/);
    for (const policy of [{ sideEffect: false }, { idempotent: true }, { acceptsIdempotencyKey: true }])
      expect(fromTool(foreign, { ...policy, retry }).name).toBe("f");
    expect(fromTool(foreign, { retry: { circuitBreakerThreshold: 3 } }).name).toBe("f");
  });

  it("is retried if it may be repeated", async () => {
    const world = await createWorld();
    const runtime = await world.runtime();
    let tries = 0;
    const flaky = {
      name: "flaky",
      schema,
      invoke: () => {
        tries += 1;
        if (tries < 3) throw new Error("not yet");
        return "done";
      },
    };
    const tool = fromTool(flaky, { sideEffect: false, retry: { maxRetries: 2, backoffMs: 0 } });
    expect(await runtime.call(tool, { q: "" }, { runId: "r" })).toMatchObject({ output: "done" });
  });

  it("with a cache is refused with a fix", () => {
    expect(() => fromTool(foreign, { cache: true })).toThrow(
      /cache cannot be combined with sideEffect: true: .* If the tool has no external effect, set sideEffect: false\./,
    );
    expect(fromTool(foreign, { cache: true, sideEffect: false }).name).toBe("f");
  });
});

describe("a plain object", () => {
  const execute = (): number => 1;

  it("with a name counts the same under either name of its schema: as a definition", () => {
    const flags = [
      { name: "d", inputSchema: schema, execute },
      { name: "d", schema, execute },
    ].map((value) => getDefinedToolMetadata(fromTool(value)));
    const own = getDefinedToolMetadata(defineTool({ name: "d", schema, execute }));
    expect(flags).toEqual([own, own]);
    expect(own).toMatchObject({ sideEffect: false });
  });

  it("without a name counts the same under either name of its schema: as a side effect", () => {
    const flags = [
      { inputSchema: schema, execute },
      { schema, execute },
    ].map((value) => getDefinedToolMetadata(fromTool(value, { name: "d" })));
    expect(flags[0]).toEqual({ name: "d", sideEffect: true, idempotent: false });
    expect(flags[1]).toEqual(flags[0]);
  });

  it("with a misspelt option is refused under either name", () => {
    for (const parts of [{ inputSchema: schema }, { schema }])
      expect(() => fromTool({ name: "d", ...parts, execute, sideEfect: true })).toThrow(
        'Tool "d": unknown option "sideEfect". Did you mean "sideEffect"?',
      );
  });
});

describe("a side effect outside any run", () => {
  it("warns once per name that it is not durable", async () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    const pay = defineTool({
      name: "pay_outside_any_run",
      schema,
      sideEffect: true,
      execute: (_args, ctx) => ctx.idempotencyKey,
    });
    await pay.execute({ q: "1" });
    await pay.execute({ q: "2" });
    const warnings = warn.mock.calls.flat().filter((text) => String(text).includes("pay_outside_any_run"));
    expect(warnings).toEqual([
      expect.stringMatching(/called outside any run: .* runtime\.call\(tool, args\)/),
    ]);
    warn.mockRestore();
  });

  it("does not warn inside a run, nor about a pure tool", async () => {
    const world = await createWorld();
    const runtime = await world.runtime();
    const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    const pay = defineTool({
      name: "pay_inside_a_run",
      schema,
      sideEffect: true,
      execute: (_args, ctx) => ctx.idempotencyKey,
    });
    await runtime.run({ runId: "r" }, () => pay.execute({ q: "" }));
    await look.execute({ q: "" });
    expect(warn).not.toHaveBeenCalled();
    warn.mockRestore();
  });
});

describe("bashTool", () => {
  it.each<[string, unknown[], RegExp]>([
    ["arguments as a string", ["echo", "x"], /bashTool: args must be a list of strings such as .*, not "x"/],
    ["an argument that is not a string", ["echo", ["a", 5]], /bashTool: args\[1\] must be a string, not 5/],
    ["a command that is not a string", [["echo"]], /bashTool: cmd must be a string, not an array/],
    [
      "a misspelt option",
      ["ls", [], { cdw: "src" }],
      /bashTool: unknown option "cdw"\. Did you mean "cwd"\?/,
    ],
  ])("says what is wrong with %s", async (_what, given, words) => {
    const call = bashTool as (...args: unknown[]) => Promise<string>;
    await expect(runWithToolContext({ rootDir: createFolder() }, () => call(...given))).rejects.toMatchObject(
      {
        code: "TOOL_INPUT_INVALID",
        message: expect.stringMatching(words),
      },
    );
  });
});
