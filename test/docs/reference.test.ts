/** The reference has every export, option, event, column, error code, command and flag of the code. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { COMMANDS_PAGE, renderCommandsPage } from "../../scripts/commands-page.ts";
import { ERRORS_PAGE, renderErrorsPage } from "../../scripts/errors-page.ts";
import { CONFIG } from "../../src/cli/load-config.ts";
import { BASE_CONTEXT_FIELDS } from "../../src/definition/context.ts";
import { createRuntime } from "../../src/index.ts";
import { PROPS } from "../../src/workflow/check-props.ts";
import { freshPostgresSchema } from "../postgres/fresh-postgres.ts";
import { blocksOf, readPage, ROOT } from "./pages.ts";

const REFERENCE = readdirSync(join(ROOT, "docs/reference")).map((name) => `docs/reference/${name}`);

/** The words in code of some pages: in code spans and code blocks. */
function codeWords(pages: readonly string[]): Set<string> {
  const code = pages.flatMap((page) => {
    const text = readPage(page);
    return [...text.matchAll(/^```[\s\S]*?^```|`[^`\n]+`/gm)].map(([match]) => match);
  });
  return new Set(code.flatMap((text) => text.match(/[\w$-]+/g) ?? []));
}

function missingFrom(names: Iterable<string>, ...pages: readonly string[]): string[] {
  const words = codeWords(pages.length === 0 ? REFERENCE : pages);
  return [...new Set(names)].filter((name) => !words.has(name));
}

const reports = readdirSync(join(ROOT, "api")).map((name) => {
  const text = readPage(join("api", name));
  const [, subpath = ""] = /^# (.*)$/m.exec(text) ?? [];
  const declarations = text.split(/^\/\/ (?=[\w$]+$)/m).slice(1);
  return { subpath, declarations };
});

test.each(reports)(
  "docs/reference/exports.md lists every export of $subpath",
  ({ subpath, declarations }) => {
    const page = readPage("docs/reference/exports.md");
    const section = page.split(/^## /m).find((text) => text.startsWith(`\`${subpath}\``)) ?? "";
    const names = declarations.map((text) => text.split("\n")[0] ?? "");
    const listed = new Set([...section.matchAll(/`([\w$]+)`/g)].map(([, name]) => name));
    expect(names.filter((name) => !listed.has(name))).toEqual([]);
  },
);

/** The names of the fields and methods of a declaration. */
function fieldsOf(declaration: string): string[] {
  const fields = declaration.matchAll(/^ {4,}(?:readonly )?([a-z]\w+)\??(?:<[^\n]*?>)?(?:\(|:)/gm);
  return [...fields].flatMap(([, name = ""]) => (name === "constructor" ? [] : [name]));
}

const declarations = new Map(
  reports.flatMap((report) => report.declarations.map((text) => [text.split("\n")[0] ?? "", text] as const)),
);

test("the reference has every field of every exported type", () => {
  const fields = [...declarations].flatMap(([name, text]) => (INTERNAL.has(name) ? [] : fieldsOf(text)));
  expect(fields.length).toBeGreaterThan(400);
  expect(missingFrom(fields)).toEqual([]);
});

/** Types of which users read nothing: a port of the store, elements of a tree, and what other packages implement. */
const INTERNAL = new Set([
  "Store",
  "WorkflowElement",
  "TaskProps",
  "JSX",
  "AISDKTelemetry",
  "EmbeddingModelLike",
  "LanguageModelLike",
  "McpClient",
  "ERROR_CODES",
]);

test.each([
  [
    "tools",
    ["DefineToolOptions", "ToolPolicies", "CacheOptions", "RetryOptions", "CliOptions", "Registry", "Tool"],
  ],
  ["context", ["BaseToolContext", "ToolSettings", "ToolLog"]],
  [
    "runtime",
    ["RuntimeOptions", "Runtime", "RunScopeOptions", "RuntimeCallOptions", "TaskIdentity", "Limits"],
  ],
  ["runtime", ["ApprovalRequest", "ApprovalDecision", "Outcome", "CallFilter", "GcOptions", "GcReport"]],
  ["runtime", ["PostgresStoreOptions"]],
  ["log", ["LoggedCall"]],
  ["workflows", ["Workflows", "WorkflowsOptions", "RunWorkflowOptions", "WorkflowResult", "WorkflowContext"]],
  ["smart-agent", ["SmartAgentOptions", "SmartAgentLimits", "InvokeOptions", "InvokeResult", "AgentState"]],
  [
    "smart-agent",
    ["PendingToolApproval", "ToolHistoryEntry", "AgentUsage", "AgentToolOptions", "AgentSnapshot"],
  ],
  ["adapters", ["AgentLoopOptions", "AgentLoopResult", "OpenAIAgentToolOptions", "LangChainToolOptions"]],
  ["adapters", ["McpServerOptions", "McpHttpOptions", "McpStdioOptions", "McpImportPolicy", "McpTools"]],
  [
    "testing",
    ["CrashProgramOptions", "CrashRunOptions", "ScriptedModelOptions", "ScriptedRequest", "AnthropicParts"],
  ],
] as const)("docs/reference/%s.md has every field of %s", (page, types) => {
  for (const type of types) {
    const fields = fieldsOf(declarations.get(type) ?? "");
    expect(fields, type).not.toEqual([]);
    expect(missingFrom(fields, `docs/reference/${page}.md`), type).toEqual([]);
  }
});

test("the reference has every field of ctx, every prop and every field of the config", () => {
  expect(missingFrom(Object.keys(BASE_CONTEXT_FIELDS), "docs/reference/context.md")).toEqual([]);
  for (const { checks } of Object.values(PROPS))
    expect(missingFrom(Object.keys(checks), "docs/reference/workflows.md")).toEqual([]);
  expect(missingFrom(Object.keys(CONFIG.checks), "docs/reference/config.md")).toEqual([]);
});

test("docs/reference/events.md has every event with its fields", () => {
  const source = readFileSync(join(ROOT, "src/invoke/events.ts"), "utf8");
  const subAgent = readFileSync(join(ROOT, "src/agent/events.ts"), "utf8");
  const types = [...(source + subAgent).matchAll(/readonly type: "([\w-]+)"/g)].map(([, type = ""]) => type);
  const fields = [...source.matchAll(/readonly (\w+)\??:/g)].map(([, name = ""]) => name);
  expect(types.length).toBeGreaterThan(30);
  expect(missingFrom(types, "docs/reference/events.md")).toEqual([]);
  expect(missingFrom(fields, "docs/reference/events.md", "docs/reference/smart-agent.md")).toEqual([]);
});

test("docs/reference/errors.md has a section for every code; `node scripts/errors-page.ts` writes it", () => {
  const page = readFileSync(ERRORS_PAGE, "utf8");
  expect(page).toBe(renderErrorsPage(page));
});

test("docs/reference/errors.md has a section for every code of the command line", () => {
  const codes = readdirSync(join(ROOT, "src/cli"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .flatMap((name) => [...readPage(join("src/cli", name)).matchAll(/"(CLI_\w+)"/g)])
    .map(([, code = ""]) => code);
  const sections = new Set(
    [...readPage("docs/reference/errors.md").matchAll(/^### `(\w+)`$/gm)].map(([, code]) => code),
  );
  expect([...new Set(codes)].filter((code) => !sections.has(code))).toEqual([]);
});

test("docs/reference/commands.md is the help of every command; `node scripts/commands-page.ts` writes it", () => {
  expect(readFileSync(COMMANDS_PAGE, "utf8")).toBe(renderCommandsPage());
});

const queries = blocksOf("docs/reference/log.md").filter(({ language }) => language === "sql");

test("docs/reference/log.md has every column of the log, and its queries run on SQLite", async () => {
  const folder = mkdtempSync(join(tmpdir(), "toolwright-log-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "app.db");
  await createStore(file);
  const database = new DatabaseSync(file);
  onTestFinished(() => database.close());
  const columns = database.prepare("PRAGMA table_info(_smithers_tool_calls)").all();
  const names = columns.map(({ name }) => String(name));
  expect(missingFrom(names, "docs/reference/log.md")).toEqual([]);
  for (const { text } of queries) expect(() => database.prepare(text).all(), text).not.toThrow();
});

test("the queries of docs/reference/log.md run on PostgreSQL", async () => {
  const address = await freshPostgresSchema();
  await createStore(address);
  const client = new Client({ connectionString: address });
  await client.connect();
  onTestFinished(() => client.end());
  for (const { text, words } of queries) if (!words.includes("sqlite")) await client.query(text);
});

async function createStore(store: string): Promise<void> {
  const runtime = createRuntime({ store });
  await runtime.ready();
  await runtime.close();
}
