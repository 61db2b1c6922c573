/** Every export of the package by name, so that no export is added or removed by accident. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import packageJson from "../../package.json" with { type: "json" };

const SOURCE = resolve(import.meta.dirname, "../../src");

interface Exports {
  readonly values: readonly string[];
  readonly types: readonly string[];
}

const EXPORTS: Readonly<Record<string, Exports>> = {
  "index.ts": {
    values: [
      "Approval",
      "Branch",
      "ERROR_CODES",
      "Loop",
      "Parallel",
      "Ralph",
      "Saga",
      "Sequence",
      "Signal",
      "Sleep",
      "Task",
      "ToolwrightError",
      "Workflow",
      "bash",
      "createRegistry",
      "createRuntime",
      "createSmartAgent",
      "createSmithers",
      "createWorker",
      "createWorkflows",
      "createTool",
      "defineTool",
      "edit",
      "fromTool",
      "getAllTools",
      "getDefinedToolMetadata",
      "getTool",
      "getToolContext",
      "getToolIdempotencyKey",
      "getToolsByGroup",
      "grep",
      "nextToolSeq",
      "read",
      "registerTool",
      "runAgentLoop",
      "runChatTurn",
      "registerToolsAsCLI",
      "runWithToolContext",
      "sharedCapability",
      "runWorkflow",
      "toAnthropicTool",
      "toAnthropicTools",
      "toTools",
      "tools",
      "write",
    ],
    types: [
      "AgentInput",
      "AgentMessage",
      "AgentSnapshot",
      "AgentState",
      "AgentStop",
      "AgentToolOptions",
      "AgentUsage",
      "DecidedState",
      "InvokeOptions",
      "InvokeResult",
      "PendingToolApproval",
      "Plan",
      "PlanStep",
      "Retention",
      "SmartAgent",
      "SmartAgentEvent",
      "SmartAgentLimits",
      "SmartAgentOptions",
      "ToolApprovalResolution",
      "ToolHistoryEntry",
      "ToolRetention",
      "AgentLoopEvent",
      "AgentLoopOptions",
      "AgentLoopResult",
      "AnyTool",
      "Approval as ApprovalRequest",
      "ApprovalDecision",
      "ApprovalResolution",
      "ApprovalProps",
      "BaseToolContext",
      "BranchProps",
      "CacheOptions",
      "CallFilter",
      "CliOptions",
      "Clock",
      "ConcurrencyOptions",
      "CreateToolOptions",
      "DefineToolOptions",
      "Effect",
      "EmbeddingModelLike",
      "ErrorCode",
      "EventEnvelope",
      "ForeignPolicy",
      "ForkOptions",
      "ForkedRun",
      "GcOptions",
      "GcReport",
      "Limits",
      "LoggedCall",
      "LoopProps",
      "ModelError",
      "OnUnknown",
      "Outcome",
      "OutputPlace",
      "OutputToken",
      "ParallelProps",
      "ParsedPositional",
      "PartialToolContext",
      "SharedCapability",
      "SagaProps",
      "SignalOptions",
      "SignalProps",
      "SleepProps",
      "RateOptions",
      "Reconciled",
      "RedactOptions",
      "RegisterToolsOptions",
      "Registry",
      "RetryOptions",
      "RevertEntry",
      "RevertFields",
      "RevertOptions",
      "RevertReport",
      "RetryPolicy",
      "RunKind",
      "RunScopeOptions",
      "RunWorkflowOptions",
      "EnqueueOptions",
      "EnqueuedRun",
      "OnChange",
      "Program",
      "ProgramJob",
      "Worker",
      "WorkerOptions",
      "WorkerStatus",
      "WorkerWorkflowSource",
      "RunWait",
      "SentSignal",
      "Schedules",
      "Schedule",
      "ScheduleOptions",
      "Runtime",
      "RuntimeCallOptions",
      "RuntimeEvent",
      "NodeStatus",
      "RunCounts",
      "RunDescription",
      "RunError",
      "RunExplanation",
      "RunFilter",
      "RunLineage",
      "RunNode",
      "RunPage",
      "RunStatus",
      "RunStep",
      "RunSummary",
      "RuntimeOptions",
      "Schemas",
      "Smithers",
      "SmithersOptions",
      "Store",
      "StreamOptions",
      "StreamPart",
      "StreamPartDetails",
      "StreamPlace",
      "TaskIdentity",
      "TaskProps",
      "Tool",
      "ToolCallOptions",
      "ToolCapabilities",
      "ToolContext",
      "ToolDefinition",
      "ToolLike",
      "ToolSource",
      "ToolLog",
      "ToolProgress",
      "ToolMetadata",
      "ToolPolicies",
      "ToolSettings",
      "ToolwrightErrorOptions",
      "WorkflowAgent",
      "WorkflowContext",
      "WorkflowDefinition",
      "WorkflowElement",
      "WorkflowEvent",
      "WorkflowNode",
      "WorkflowProps",
      "WorkflowResult",
      "Workflows",
      "WorkflowsOptions",
    ],
  },
  "jsx-runtime.ts": { values: ["Fragment", "jsx", "jsxs"], types: [] },
  "jsx-dev-runtime.ts": { values: ["Fragment", "jsxDEV"], types: ["JSX"] },
  "adapters/ai-sdk/index.ts": {
    values: ["createChatHandler", "recordModel", "toAISDKTools", "toUIMessageStream", "toolwrightTelemetry"],
    types: [
      "AISDKContext",
      "AISDKTelemetry",
      "ChatAccess",
      "ChatAgent",
      "ChatHandler",
      "ChatHandlerOptions",
      "ChatIdentity",
      "LanguageModelLike",
      "ToolSource",
    ],
  },
  "adapters/anthropic/index.ts": {
    values: [
      "findAnthropicTool",
      "runAgentLoop",
      "runChatTurn",
      "toAnthropicRunnableTool",
      "toAnthropicRunnableTools",
      "toAnthropicTool",
      "toAnthropicTools",
    ],
    types: [
      "AgentLoopEvent",
      "AgentLoopOptions",
      "AgentLoopResult",
      "AnthropicClient",
      "LoopStop",
      "ToolSource",
    ],
  },
  "postgres.ts": { values: ["openPostgresStore"], types: ["PostgresStoreOptions"] },
  "adapters/commander/index.ts": { values: ["registerToolsAsCLI"], types: ["RegisterToolsOptions"] },
  "builtin/index.ts": {
    values: [
      "BASH_TOOL_MAX_ARGS",
      "BASH_TOOL_MAX_ARG_LENGTH",
      "BASH_TOOL_MAX_COMMAND_LENGTH",
      "BASH_TOOL_MAX_CWD_LENGTH",
      "BASH_TOOL_MAX_OUTPUT_BYTES",
      "BASH_TOOL_MAX_TIMEOUT_MS",
      "bash",
      "bashTool",
      "capabilitiesTools",
      "contextTools",
      "describeIsolation",
      "edit",
      "editFileTool",
      "getDefinedToolMetadata",
      "getToolContext",
      "getToolIdempotencyKey",
      "grep",
      "grepTool",
      "listGitSnapshots",
      "nextToolSeq",
      "read",
      "readFileTool",
      "removeGitSnapshots",
      "restoreGitSnapshot",
      "runWithToolContext",
      "taskTools",
      "tools",
      "write",
      "writeFileTool",
    ],
    types: [
      "BashOptions",
      "GitSnapshot",
      "IsolationDescription",
      "IsolationTier",
      "PartialToolContext",
      "ReadPart",
      "ToolContext",
      "ToolMetadata",
    ],
  },
  "adapters/openai-agents/index.ts": {
    values: ["releaseMalformedCalls", "toOpenAIAgentTool", "toOpenAIAgentTools"],
    types: ["OpenAIAgentTool", "OpenAIAgentToolOptions", "OpenAIAgentsContext", "ToolSource"],
  },
  "adapters/langchain/index.ts": {
    values: ["toLangChainTool", "toLangChainTools"],
    types: ["LangChainContext", "LangChainToolOptions", "ToolSource"],
  },
  "effect.ts": { values: ["runWorkflow"], types: [] },
  "adapters/mcp/index.ts": {
    values: [
      "MCP_IDEMPOTENCY_KEY",
      "createMcpServer",
      "importMcpTools",
      "mcpTools",
      "pinMcpTools",
      "serveMcpHttp",
      "serveMcpStdio",
    ],
    types: [
      "McpClient",
      "McpHttpOptions",
      "McpHttpServer",
      "McpImportPolicy",
      "McpServerOptions",
      "McpStdioOptions",
      "McpStdioServer",
      "McpTools",
    ],
  },
  "otel/index.ts": { values: ["openTelemetry"], types: ["OpenTelemetryOptions", "TelemetryOption"] },
  "server/index.ts": {
    values: ["createHandler", "serve", "toNodeListener"],
    types: [
      "Handler",
      "HandlerOptions",
      "Scope",
      "ServeOptions",
      "ServedWorkflows",
      "ServerToken",
      "ToolwrightServer",
      "WorkflowSource",
    ],
  },
  "testing/index.ts": {
    values: [
      "CRASH_POINTS",
      "createCrashProgram",
      "createCrashableRuntime",
      "createFakeClock",
      "createMemoryStore",
      "createScriptedAnthropic",
      "createScriptedModel",
      "reachCrashPoint",
      "recordRun",
      "replayRun",
      "storeContract",
    ],
    types: [
      "AnthropicAnswer",
      "AnthropicParts",
      "AnthropicRequest",
      "AnthropicTurn",
      "ContractCase",
      "ContractDatabase",
      "CrashPoint",
      "CrashProgram",
      "CrashProgramOptions",
      "CrashRunOptions",
      "FakeClock",
      "Fixture",
      "HttpFailure",
      "NearestRecord",
      "PendingSleep",
      "ProgramRun",
      "ReplayDifference",
      "ReplayOptions",
      "ReplayResult",
      "ReplayedProgram",
      "ScriptedAnswer",
      "ScriptedAnthropic",
      "ScriptedMessage",
      "ScriptedModel",
      "ScriptedModelOptions",
      "ScriptedParts",
      "ScriptedRequest",
      "ScriptedToolCall",
      "ScriptedToolResult",
      "ScriptedTurn",
      "StoreContractOptions",
    ],
  },
};

test.each(Object.keys(EXPORTS))("src/%s exports these values", async (file) => {
  const module = (await import(resolve(SOURCE, file))) as object;
  expect(Object.keys(module).sort()).toEqual(EXPORTS[file]?.values.toSorted());
});

test.each(Object.keys(EXPORTS))("src/%s exports these types", (file) => {
  const text = readFileSync(resolve(SOURCE, file), "utf8");
  const names = [...text.matchAll(/export type \{([^}]*)\}/g)].flatMap(([, list = ""]) =>
    list.split(",").flatMap((name) => (name.trim() === "" ? [] : [name.trim()])),
  );
  expect(names.sort()).toEqual(EXPORTS[file]?.types.toSorted());
});

test.each(Object.keys(EXPORTS))("src/%s exports by name only", (file) => {
  expect(readFileSync(resolve(SOURCE, file), "utf8")).not.toMatch(/export (default|\*)/);
});

test("every subpath of the package is on this list", () => {
  const subpaths = Object.keys(packageJson.exports).filter((path) => path !== "./package.json");
  const exports = packageJson.exports as unknown as Record<string, { default: string }>;
  const files = subpaths.map(
    (path) => exports[path]?.default.replace("./dist/", "").replace(/\.js$/, ".ts") ?? path,
  );
  expect(files.sort()).toEqual(Object.keys(EXPORTS).sort());
});

/** Everything that an import of a file loads. */
function urlsLoadedBy(file: string): string[] {
  const program = `
    import { registerHooks } from "node:module";
    const urls = [];
    registerHooks({ load: (url, context, next) => (urls.push(url), next(url, context)) });
    const { getBuiltinModule } = process;
    process.getBuiltinModule = (name) => (urls.push(name), getBuiltinModule.call(process, name));
    await import(${JSON.stringify(resolve(SOURCE, file))});
    console.log(JSON.stringify(urls));
  `;
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", program], {
    encoding: "utf8",
  });
  if (stdout === "") throw new Error(stderr);
  return JSON.parse(stdout) as string[];
}

/** The packages among it, and the database. */
function loadedBy(file: string): string[] {
  const urls = urlsLoadedBy(file);
  const packages = urls.flatMap((url) => /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1] ?? []);
  const builtins = urls.filter((url) => url === "node:sqlite");
  return [...new Set([...packages, ...builtins])].sort();
}

test("importing the root loads no package but zod, and no database", () => {
  expect(loadedBy("index.ts")).toEqual(["zod"]);
});

test("importing the root loads few files and no cryptography: each costs a part of a millisecond", () => {
  const urls = urlsLoadedBy("index.ts");
  expect(urls).not.toContain("node:crypto");
  expect(urls.filter((url) => url.includes("/src/")).length).toBeLessThanOrEqual(71);
});

test("importing the Anthropic adapter loads no more than the root", () => {
  expect(loadedBy("adapters/anthropic/index.ts")).toEqual(["zod"]);
});

test("importing the testing kit loads none of the optional peers", () => {
  const peers = Object.keys(packageJson.peerDependenciesMeta);
  expect(loadedBy("testing/index.ts").filter((name) => peers.includes(name))).toEqual([]);
});
