/**
 * Checks every exported function that takes options: a misspelt name, a value that is not a boolean and a text instead of a
 * number are refused by name. A new export fails the test, because it is in neither list.
 */
import { Client } from "@modelcontextprotocol/client";
import { ToolLoopAgent } from "ai";
import { Command } from "commander";
import { Effect } from "effect";
import { describe, expect, it, onTestFinished, test } from "vitest";
import { z } from "zod";
import * as root from "../src/index.ts";
import * as aiSdk from "../src/adapters/ai-sdk/index.ts";
import { CHAT_HANDLER_OPTIONS } from "../src/adapters/ai-sdk/chat/create-chat-handler.ts";
import { UI_MESSAGE_STREAM_OPTIONS } from "../src/adapters/ai-sdk/to-ui-message-stream.ts";
import * as anthropic from "../src/adapters/anthropic/index.ts";
import { LOOP_OPTIONS } from "../src/adapters/anthropic/options.ts";
import * as commander from "../src/adapters/commander/index.ts";
import { REGISTER_TOOLS_OPTIONS } from "../src/adapters/commander/register-tools.ts";
import * as langchain from "../src/adapters/langchain/index.ts";
import { LANGCHAIN_OPTIONS } from "../src/adapters/langchain/options.ts";
import * as mcp from "../src/adapters/mcp/index.ts";
import { MCP_IMPORT_POLICY } from "../src/adapters/mcp/client/import-tools.ts";
import { PIN_OPTIONS } from "../src/adapters/mcp/client/pins.ts";
import { MCP_SERVER_OPTIONS } from "../src/adapters/mcp/server/create-server.ts";
import { MCP_HTTP_OPTIONS } from "../src/adapters/mcp/server/serve-http.ts";
import { MCP_STDIO_OPTIONS } from "../src/adapters/mcp/server/serve-stdio.ts";
import * as openai from "../src/adapters/openai-agents/index.ts";
import { OPENAI_AGENTS_OPTIONS } from "../src/adapters/openai-agents/options.ts";
import { TOOL_APPROVAL_RESOLUTION } from "../src/agent/decided-state.ts";
import { AGENT_OPTIONS, INVOKE_OPTIONS } from "../src/agent/options.ts";
import { AGENT_TOOL_OPTIONS } from "../src/agent/sub-agent.ts";
import { POLICIES } from "../src/definition/check-tool-options.ts";
import { aStorableValue, type Check } from "../src/definition/option-checks.ts";
import { POSTGRES_STORE_OPTIONS } from "../src/definition/postgres-store-options.ts";
import * as effect from "../src/effect.ts";
import {
  APPROVALS_FILTER,
  CALL_OPTIONS,
  CALLS_FILTER,
  DECISION,
  GC_OPTIONS,
  RETRY_WARNING_OPTIONS,
  RUN_OPTIONS,
  SIGNAL_OPTIONS,
  STREAM_OPTIONS,
} from "../src/runtime/method-options.ts";
import { RUNTIME_OPTIONS } from "../src/runtime/options.ts";
import { LIST_SNAPSHOTS, REMOVE_SNAPSHOTS, RESTORE_SNAPSHOT } from "../src/snapshot/check-options.ts";
import * as postgres from "../src/postgres.ts";
import * as server from "../src/server/index.ts";
import { HANDLER_OPTIONS, SERVE_OPTIONS } from "../src/server/options.ts";
import { CRASH_PROGRAM_OPTIONS, CRASH_RUN_OPTIONS } from "../src/testing/crash/crash-program.ts";
import * as testing from "../src/testing/index.ts";
import { SCRIPTED_ANTHROPIC_OPTIONS, SCRIPTED_MODEL_OPTIONS } from "../src/testing/model/script.ts";
import { STORE_CONTRACT_OPTIONS } from "../src/testing/store-contract/store-contract.ts";
import { BASH_OPTIONS } from "../src/builtin/bash.ts";
import * as tools from "../src/builtin/index.ts";
import { READ_PART } from "../src/builtin/read.ts";
import { WORKER_OPTIONS } from "../src/worker/options.ts";
import { WORKFLOWS_OPTIONS } from "../src/workflow/create-workflows.ts";
import { RUN_WORKFLOW_OPTIONS } from "../src/workflow/run-options.ts";

interface Surface {
  readonly checks: Readonly<Record<string, Check>>;
  /** Valid values for the required options. */
  readonly base?: object;
  readonly give: (options: never) => unknown;
  readonly code?: string;
}

const schema = z.object({ q: z.string() });
const execute = (): number => 1;
const own = root.defineTool({ name: "look", schema, execute });
const model = testing.createScriptedModel([]);
const client = { messages: { create: execute } };
const definition = { name: "t", schema, execute };
const workflow = root.createSmithers({}).smithers(() => undefined as never);
const agent = root.createSmartAgent({ model });
const invalid = "TOOL_DEFINITION_INVALID";
const mcpClient = new Client({ name: "test", version: "1" });

function runtime(): root.Runtime {
  const made = root.createRuntime({ store: ":memory:" });
  onTestFinished(() => made[Symbol.asyncDispose]());
  return made;
}

/** Never opened. */
const unopened = root.createRuntime({ store: ":memory:" });
const state = { pendingApprovals: [{ id: "a", kind: "call" }] };
const message = { role: "user", content: "Hi." };

/** By the name of the export, or of the method. */
const SURFACES: Readonly<Record<string, Surface>> = {
  createRuntime: { ...RUNTIME_OPTIONS, give: root.createRuntime },
  "runtime.call": { ...CALL_OPTIONS, give: (options) => runtime().call(own, { q: "" }, options) },
  "runtime.run": { ...RUN_OPTIONS, base: { runId: "r" }, give: (options) => runtime().run(options, execute) },
  "runtime.retryWarning": {
    ...RETRY_WARNING_OPTIONS,
    base: { runId: "r" },
    give: (options) => runtime().retryWarning(options),
  },
  "runtime.signal": {
    ...SIGNAL_OPTIONS,
    give: (options) => runtime().signal("r", "paid", {}, options),
  },
  "runtime.stream": { ...STREAM_OPTIONS, give: (options) => runtime().stream("r", options).next() },
  toUIMessageStream: {
    ...UI_MESSAGE_STREAM_OPTIONS,
    give: (options) => aiSdk.toUIMessageStream(runtime(), "r", options),
  },
  createChatHandler: {
    ...CHAT_HANDLER_OPTIONS,
    base: { runtime: unopened, agent: new ToolLoopAgent({ model }), authorize: execute },
    give: aiSdk.createChatHandler,
  },
  createWorker: { ...WORKER_OPTIONS, base: { runtime: unopened }, give: root.createWorker },
  "runtime.gc": { ...GC_OPTIONS, give: (options) => runtime().gc(options) },
  "runtime.calls": { ...CALLS_FILTER, give: (options) => runtime().calls(options) },
  "runtime.approvals": { ...APPROVALS_FILTER, give: (options) => runtime().approvals(options) },
  "runtime.resolveToolApproval": {
    ...DECISION,
    give: (options) => runtime().resolveToolApproval("apr_1", options),
  },
  defineTool: { checks: POLICIES, base: definition, give: root.defineTool, code: invalid },
  createTool: {
    checks: POLICIES,
    base: { name: "t", schema, func: execute },
    give: root.createTool,
    code: invalid,
  },
  fromTool: {
    checks: POLICIES,
    give: (options) => root.fromTool({ name: "f", schema, invoke: execute }, options),
    code: invalid,
  },
  "a plain definition": { checks: POLICIES, base: definition, give: root.fromTool, code: invalid },
  createSmartAgent: { ...AGENT_OPTIONS, base: { model }, give: root.createSmartAgent },
  "agent.invoke": {
    ...INVOKE_OPTIONS,
    give: (options) => agent.invoke({ messages: [message] } as never, options),
  },
  "agent.asTool": { ...AGENT_TOOL_OPTIONS, base: { name: "a" }, give: (options) => agent.asTool(options) },
  "agent.resolveToolApproval": {
    ...TOOL_APPROVAL_RESOLUTION,
    base: { id: "a" },
    give: (options) => agent.resolveToolApproval(state as never, options),
  },
  createWorkflows: { ...WORKFLOWS_OPTIONS, give: (options) => root.createWorkflows({}, options) },
  createSmithers: { ...WORKFLOWS_OPTIONS, give: (options) => root.createSmithers({}, options) },
  runWorkflow: { ...RUN_WORKFLOW_OPTIONS, give: (options) => root.runWorkflow(workflow, options) },
  "effect runWorkflow": {
    ...RUN_WORKFLOW_OPTIONS,
    give: (options) => Effect.runPromise(effect.runWorkflow(workflow, options)),
  },
  runAgentLoop: {
    ...LOOP_OPTIONS.loop,
    base: { client, model: "m", messages: [message] },
    give: root.runAgentLoop,
  },
  runChatTurn: {
    ...LOOP_OPTIONS.chat,
    base: { client, model: "m", messages: [message] },
    give: root.runChatTurn,
  },
  registerToolsAsCLI: {
    ...REGISTER_TOOLS_OPTIONS,
    give: (options) => root.registerToolsAsCLI(new Command(), options),
  },
  toLangChainTools: { ...LANGCHAIN_OPTIONS, give: (options) => langchain.toLangChainTools([own], options) },
  toLangChainTool: { ...LANGCHAIN_OPTIONS, give: (options) => langchain.toLangChainTool(own, options) },
  toOpenAIAgentTools: {
    ...OPENAI_AGENTS_OPTIONS,
    give: (options) => openai.toOpenAIAgentTools([own], options),
  },
  toOpenAIAgentTool: { ...OPENAI_AGENTS_OPTIONS, give: (options) => openai.toOpenAIAgentTool(own, options) },
  createMcpServer: { ...MCP_SERVER_OPTIONS, base: { tools: [own] }, give: mcp.createMcpServer },
  serveMcpHttp: { ...MCP_HTTP_OPTIONS, base: { tools: [own] }, give: mcp.serveMcpHttp },
  serveMcpStdio: { ...MCP_STDIO_OPTIONS, base: { tools: [own] }, give: mcp.serveMcpStdio },
  importMcpTools: {
    ...MCP_IMPORT_POLICY,
    give: (options) => mcp.importMcpTools(mcpClient, options),
  },
  mcpTools: {
    ...MCP_IMPORT_POLICY,
    give: (options) => mcp.mcpTools({ shop: mcpClient }, { shop: options }),
  },
  pinMcpTools: { ...PIN_OPTIONS, give: (options) => mcp.pinMcpTools(mcpClient, options) },
  bashTool: {
    ...BASH_OPTIONS,
    give: (options) => tools.bashTool("true", [], options),
    code: "TOOL_INPUT_INVALID",
  },
  readFileTool: { ...READ_PART, give: (options) => tools.readFileTool("a.txt", options) },
  listGitSnapshots: { ...LIST_SNAPSHOTS, base: { rootDir: "." }, give: tools.listGitSnapshots },
  removeGitSnapshots: {
    ...REMOVE_SNAPSHOTS,
    base: { rootDir: ".", runId: "r" },
    give: tools.removeGitSnapshots,
  },
  restoreGitSnapshot: {
    ...RESTORE_SNAPSHOT,
    base: { rootDir: ".", runId: "r", seq: 1 },
    give: tools.restoreGitSnapshot,
  },
  createScriptedModel: {
    ...SCRIPTED_MODEL_OPTIONS,
    give: (options) => testing.createScriptedModel([], options),
  },
  createScriptedAnthropic: {
    ...SCRIPTED_ANTHROPIC_OPTIONS,
    give: (options) => testing.createScriptedAnthropic([], options),
  },
  createCrashableRuntime: { ...RUNTIME_OPTIONS, give: testing.createCrashableRuntime },
  createCrashProgram: {
    ...CRASH_PROGRAM_OPTIONS,
    give: (options) => testing.createCrashProgram("a.ts", options),
  },
  "program.run": {
    ...CRASH_RUN_OPTIONS,
    give: (options) => testing.createCrashProgram("missing.ts").run(options),
  },
  openPostgresStore: {
    ...POSTGRES_STORE_OPTIONS,
    base: { connectionString: "postgres://127.0.0.1:1/none" },
    give: postgres.openPostgresStore,
  },
  createHandler: { ...HANDLER_OPTIONS, base: { store: ":memory:" }, give: server.createHandler },
  serve: { ...SERVE_OPTIONS, base: { store: ":memory:" }, give: server.serve },
  storeContract: {
    ...STORE_CONTRACT_OPTIONS,
    base: { createDatabase: execute },
    give: testing.storeContract,
  },
};

/** Exports that take no options, or whose options are checked elsewhere. */
const WITHOUT: ReadonlySet<string> = new Set([
  "ToolwrightError",
  // Components: test/workflow/props.test.tsx.
  "Approval",
  "Branch",
  "Loop",
  "Parallel",
  "Ralph",
  "Saga",
  "Sequence",
  "Signal",
  "Sleep",
  "Task",
  "Workflow",
  // Take tools, names, a context or plain values.
  "createRegistry",
  "registerTool",
  "getTool",
  "getAllTools",
  "getToolsByGroup",
  "toTools",
  "getDefinedToolMetadata",
  "getToolContext",
  "getToolIdempotencyKey",
  "nextToolSeq",
  "sharedCapability",
  "toAISDKTools",
  "toAnthropicTool",
  "toAnthropicTools",
  "toAnthropicRunnableTool",
  "toAnthropicRunnableTools",
  "findAnthropicTool",
  "recordModel",
  "releaseMalformedCalls",
  "writeFileTool",
  "editFileTool",
  "grepTool",
  "describeIsolation",
  "createFakeClock",
  "toNodeListener",
  "createMemoryStore",
  "recordRun",
  "replayRun",
  "reachCrashPoint",
  // Below.
  "runWithToolContext",
]);

test("every exported function is on one of the two lists", () => {
  const modules = {
    root,
    aiSdk,
    anthropic,
    commander,
    langchain,
    mcp,
    openai,
    server,
    effect,
    postgres,
    testing,
    tools,
  };
  const missing = Object.entries(modules).flatMap(([entry, exported]) =>
    Object.entries(exported)
      .filter(([, value]) => typeof value === "function")
      .map(([name]) => name)
      .filter((name) => !(name in SURFACES) && !WITHOUT.has(name))
      .map((name) => `${entry}: ${name}`),
  );
  expect(missing).toEqual([]);
});

function accepts(check: Check, value: unknown): boolean {
  try {
    check(value, "x");
    return true;
  } catch {
    return false;
  }
}

/** The option is a value of the caller, such as an input or an output: any, or any that can be stored. */
function holdsValue(check: Check): boolean {
  return check === aStorableValue || accepts(check, Symbol.iterator);
}

async function refusalOf({ give, base }: Surface, options: object): Promise<root.ToolwrightError> {
  try {
    await give({ ...base, ...options } as never);
  } catch (error) {
    if (root.ToolwrightError.is(error)) return error;
    throw error;
  }
  throw new Error(`taken: ${JSON.stringify(options)}`);
}

/** Drops a letter in the middle: a name that no surface has. */
function misspell(name: string): string {
  return `${name.slice(0, 2)}${name.slice(3)}`;
}

describe.each(Object.entries(SURFACES))("%s", (_name, surface) => {
  const code = surface.code ?? "TOOL_OPTION_INVALID";
  const names = Object.keys(surface.checks);

  it("refuses a misspelt option, and suggests the right one", async () => {
    const name = names.find((one) => one.length > 4 && !names.includes(misspell(one))) ?? names[0] ?? "";
    const error = await refusalOf(surface, { [misspell(name)]: undefined });
    expect(error.code).toBe(code);
    expect(error.message).toContain(`unknown option "${misspell(name)}"`);
    expect(error.message).toContain("Did you mean ");
  });

  it("accepts only true and false for a boolean option", async () => {
    const booleans = names.filter((name) => {
      const check = surface.checks[name] as Check;
      return accepts(check, true) && accepts(check, false);
    });
    for (const name of booleans) {
      for (const value of ["false", "no", "true", 1, 0, null]) {
        if (accepts(surface.checks[name] as Check, value)) continue;
        const error = await refusalOf(surface, { [name]: value });
        expect(error.code).toBe(code);
        expect(error.message).toContain(name);
      }
    }
  });

  it("accepts no text for a number option", async () => {
    const numbers = names.filter((name) => {
      const check = surface.checks[name] as Check;
      return accepts(check, 5) && !accepts(check, "5");
    });
    for (const name of numbers) {
      const error = await refusalOf(surface, { [name]: "5" });
      expect(error.code).toBe(code);
      expect(error.message).toContain(`${name} must be `);
    }
  });
});

/** Values without fields: as options, or as an option with fields, each would count as `{}`. */
const FIELDLESS: Readonly<Record<string, unknown>> = {
  "a promise": Promise.resolve({ needsApproval: true }),
  "a Map": new Map([["needsApproval", true]]),
  "a Set": new Set(["needsApproval"]),
  "an instance of Date": new Date(),
  "an instance of URL": new URL("file:///x"),
  "an array": [],
};

describe.each(Object.entries(FIELDLESS))("%s", (kind, value) => {
  it.each(Object.entries(SURFACES).filter(([name]) => name !== "a plain definition"))(
    "is not a set of options for %s",
    async (_name, { give }) => {
      const refused = await Promise.resolve()
        .then(() => give(value as never))
        .then(
          () => undefined,
          (error: unknown) => error,
        );
      expect(root.ToolwrightError.is(refused)).toBe(true);
    },
  );

  it("is accepted by no option, unless the option accepts every value or a list", () => {
    const open = Object.entries(SURFACES).flatMap(([name, { checks }]) =>
      Object.entries(checks)
        .filter(([, check]) => accepts(check, value) && !holdsValue(check))
        .map(([option]) => `${name}: ${option}`),
    );
    if (kind !== "an array") expect(open).toEqual([]);
  });
});

test("no option accepts NaN, unless it accepts every value", () => {
  const open = Object.entries(SURFACES).flatMap(([name, { checks }]) =>
    Object.entries(checks)
      .filter(([, check]) => accepts(check, Number.NaN) && !holdsValue(check))
      .map(([option]) => `${name}: ${option}`),
  );
  expect(open).toEqual([]);
});

test("the refusal names a promise, a Map, an instance or an inherited option", () => {
  const given = (options: unknown) => () => root.createRuntime(options as never);
  expect(given(Promise.resolve({}))).toThrow("not a promise (await it first)");
  expect(given(new Map())).toThrow("not a Map");
  expect(given(new Date())).toThrow("not an instance of Date");
  expect(given({ store: ":memory:", limits: Promise.resolve({}) })).toThrow(
    "limits must be an object, not a promise (await it first)",
  );
  const inherited = Object.assign(Object.create({ trustMessageApprovals: true }) as object, {
    store: ":memory:",
  });
  expect(given(inherited)).toThrow("createRuntime: trustMessageApprovals is inherited.");
  expect(() =>
    root.defineTool({ ...definition, redact: Promise.resolve({ input: ["q"] }) as never }),
  ).toThrow("redact must be an object, not a promise");
  expect(() => root.fromTool({ name: "f", schema, invoke: execute }, new Map() as never)).toThrow(
    "not a Map",
  );
});

test("rule 33: no option that may be true is true by coercion", () => {
  const open = Object.entries(SURFACES).flatMap(([name, { checks }]) =>
    Object.entries(checks)
      .filter(([, check]) => accepts(check, true) && accepts(check, false))
      .filter(([, check]) => !holdsValue(check))
      .filter(([, check]) => ["false", "no", 1].some((value) => accepts(check, value)))
      .map(([option]) => `${name}: ${option}`),
  );
  expect(open).toEqual([]);
});

test.each<[string, string]>([
  ["rootdir", "rootDir"],
  ["timeoutMs", "toolTimeoutMs"],
  ["network", "allowNetwork"],
  ["concurrency", "maxConcurrency"],
  ["acceptChange", "acceptChanges"],
])("runWorkflow names %s as %s", async (wrong, right) => {
  await expect(root.runWorkflow(workflow, { [wrong]: true })).rejects.toThrow(
    `runWorkflow: unknown option "${wrong}". Did you mean "${right}"?`,
  );
});

test.each(["false", "no", 1, {}, [], null])("runWorkflow does not open the network for %j", async (value) => {
  await expect(root.runWorkflow(workflow, { allowNetwork: value as never })).rejects.toThrow(
    "runWorkflow: allowNetwork must be true or false, not ",
  );
  const settings = { allowNetwork: value as never };
  await expect(runtime().run({ runId: "r", settings }, execute)).rejects.toThrow(
    "runtime.run: settings.allowNetwork must be true or false, not ",
  );
});

describe("runWithToolContext", () => {
  it.each([
    { allowNetwork: "false" },
    { allowNetwork: "no" },
    { allowNetwork: 1 },
    { allowNetwork: {} },
    { allowNetwork: null },
    { maxOutputBytes: "5" },
    { timeoutMs: "5" },
    { isolation: "none" },
    { rootDir: 5 },
    { sideEffect: "false" },
  ])("refuses %j by name", (context) => {
    const [name = ""] = Object.keys(context);
    expect(() => root.runWithToolContext(context as never, execute)).toThrow(
      new RegExp(`^runWithToolContext: ${name} must be `),
    );
  });

  it("refuses a misspelt setting, and passes capabilities on", () => {
    expect(() => root.runWithToolContext({ allowNetwrok: true } as never, execute)).toThrow(
      'runWithToolContext: unknown option "allowNetwrok". Did you mean "allowNetwork"?',
    );
    expect(root.runWithToolContext({ conn: 1 } as never, root.getToolContext)).toEqual({ conn: 1 });
    expect(() => root.runWithToolContext(undefined as never, execute)).toThrow("must be an object");
  });
});
