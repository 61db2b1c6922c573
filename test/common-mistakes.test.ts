/** Error messages after typical mistakes of new users: what was expected, what was received, and what to do next. */
import { Command } from "commander";
import { expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { recordModel } from "../src/adapters/ai-sdk/index.ts";
import { createMcpServer, importMcpTools, mcpTools } from "../src/adapters/mcp/index.ts";
import {
  createRegistry,
  createRuntime,
  createSmartAgent,
  createSmithers,
  createWorkflows,
  createTool,
  defineTool,
  fromTool,
  getToolIdempotencyKey,
  nextToolSeq,
  registerToolsAsCLI,
  type Runtime,
  runAgentLoop,
  runWithToolContext,
  runWorkflow,
  ToolwrightError,
  toTools,
} from "../src/index.ts";
import { readFileTool } from "../src/builtin/index.ts";

const schema = z.object({ q: z.string() });
const look = defineTool({ name: "look", schema, execute: () => "seen" });
const base = { name: "pay", schema, execute: () => 1 };
const model = { invoke: () => Promise.resolve({ role: "assistant", content: "Hi." }) };
const client = { messages: { create: () => Promise.reject(new Error("offline")) } };
const message = { role: "user", content: "Hi." };

function runtime(options: object = {}): Runtime {
  const made = createRuntime({ store: ":memory:", ...options });
  onTestFinished(() => made.close());
  return made;
}

async function pending(): Promise<{ runtime: Runtime; id: string }> {
  const used = runtime();
  const pay = defineTool({ ...base, needsApproval: true });
  const outcome = await used.call(pay, { q: "a" }, { runId: "r" });
  return { runtime: used, id: outcome.status === "pending" ? outcome.approval.id : "" };
}

/** Calls a tool, and throws the error of its outcome. */
async function failing(options: object, args: unknown): Promise<never> {
  const tool = defineTool({ name: "pay", schema, ...options } as never);
  const outcome = await runtime().call(tool, args);
  throw outcome.status === "error" ? outcome.error : new Error(outcome.status);
}

type Mistake = [what: string, make: () => unknown, code: string, says: string, hint?: string];

const DEFINITION = "TOOL_DEFINITION_INVALID";
const OPTION = "TOOL_OPTION_INVALID";

const MISTAKES: Mistake[] = [
  [
    "a misspelt gate",
    () => defineTool({ ...base, needsAproval: true } as never),
    DEFINITION,
    'unknown option "needsAproval". Did you mean "needsApproval"?',
  ],
  [
    "a gate under another SDK's name",
    () => defineTool({ ...base, requiresApproval: true } as never),
    DEFINITION,
    'requiresApproval is called "needsApproval" here',
  ],
  [
    "an option that does not exist",
    () => defineTool({ ...base, colour: 1 } as never),
    DEFINITION,
    'unknown option "colour". Known options: name, description, schema, ',
  ],
  [
    "a text instead of a boolean",
    () => defineTool({ ...base, sideEffect: "false" as never }),
    DEFINITION,
    'sideEffect must be true or false, not "false"',
  ],
  [
    "func instead of execute",
    () => defineTool({ name: "pay", schema, func: () => 1 } as never),
    DEFINITION,
    'func is called "execute" here',
  ],
  [
    "execute instead of func",
    () => createTool({ name: "pay", schema, execute: () => 1 } as never),
    DEFINITION,
    'execute is called "func" here',
  ],
  [
    "a JSON Schema as the schema",
    () => defineTool({ ...base, schema: { type: "object" } as never }),
    DEFINITION,
    "schema must be a Zod 4 schema, not an object. For a JSON Schema use z.fromJSONSchema(schema)",
  ],
  [
    "bare fields as the schema",
    () => defineTool({ ...base, schema: { q: z.string() } as never }),
    DEFINITION,
    "Wrap its fields in z.object({ … })",
  ],
  [
    "a schema that accepts nothing",
    () => defineTool({ ...base, schema: z.never() as never }),
    DEFINITION,
    "schema must accept some input, not z.never(). Without arguments: z.object({})",
  ],
  [
    "no arguments as z.void()",
    () => defineTool({ ...base, schema: z.void() as never }),
    "TOOL_SCHEMA_UNREPRESENTABLE",
    "For a tool without arguments use z.object({})",
  ],
  [
    "a line break in the name",
    () => defineTool({ ...base, name: "pay\nnow" }),
    DEFINITION,
    'Tool "pay\\nnow": name must not contain line breaks or other control characters',
  ],
  [
    "a negative timeout",
    () => defineTool({ ...base, timeoutMs: -1 }),
    DEFINITION,
    "timeoutMs must be a number of at least 1, not -1",
  ],
  [
    "retries as a number",
    () => defineTool({ ...base, retries: 3 } as never),
    DEFINITION,
    'retries is called "retry: { maxRetries }" here',
  ],
  [
    "a misspelt path to hide",
    () => defineTool({ ...base, redact: { input: ["p"] } }),
    DEFINITION,
    'redact.input names "p", which the input never has, so nothing would be hidden. Did you mean "q"?',
  ],
  [
    "a misspelt path to hide in the output",
    () =>
      defineTool({
        ...base,
        outputSchema: z.object({ token: z.string() }),
        execute: () => ({ token: "" }),
        redact: { output: ["tokn"] },
      }),
    DEFINITION,
    'redact.output names "tokn", which the output never has, so nothing would be hidden. Did you mean "token"?',
  ],
  [
    "a function as a tool",
    () => createSmartAgent({ model, tools: [() => 1] }),
    DEFINITION,
    "tools.0 must be a tool, not a function",
    "Define a tool that calls the function",
  ],
  [
    "tools that were not awaited",
    () => createSmartAgent({ model, tools: Promise.resolve([look]) } as never),
    OPTION,
    "tools must be an array of tools, an object of tools by name, or a registry, not a promise (await it first)",
  ],
  [
    "one tool that was not awaited",
    () => toTools([Promise.resolve(look)]),
    DEFINITION,
    "tools.0 must be a tool, not a promise (await it first)",
  ],
  ["a set of tools", () => toTools(new Set([look]) as never), DEFINITION, "or a registry, not a Set"],
  [
    "two tools of one name",
    () => createSmartAgent({ model, tools: [look, defineTool({ ...base, name: "look" })] }),
    "TOOL_ALREADY_REGISTERED",
    'Two tools would have the name "look"',
    "Rename one of the tools",
  ],
  [
    "the name of a tool instead of the tool",
    () => runtime().call("look" as never, { q: "" }),
    DEFINITION,
    'runtime.call: the first argument must be a tool, not "look"',
    "Pass a tool from defineTool",
  ],
  [
    "the run id instead of the options",
    () => runtime().call(look, { q: "" }, "r" as never),
    OPTION,
    'runtime.call: the options must be an object such as { runId: "order-17" }, not "r"',
  ],
  [
    "a number as the run id",
    () => runtime().call(look, { q: "" }, { runId: 7 } as never),
    OPTION,
    "runId must be a non-empty string, not 7",
  ],
  [
    "a misspelt run id",
    () => runtime().run({ runID: "r" } as never, () => 1),
    OPTION,
    'runtime.run: unknown option "runID". Did you mean "runId"?',
  ],
  [
    "another library's option in a group of options",
    () => defineTool({ ...base, retry: { attempts: 3 } } as never),
    "TOOL_DEFINITION_INVALID",
    'unknown option "attempts" of "retry". Known options: maxRetries',
  ],
  [
    "the name of a model instead of a model",
    () => recordModel("openai/gpt-5" as never),
    OPTION,
    'recordModel takes a model of an AI SDK provider, not "openai/gpt-5".',
    "gateway(",
  ],
  [
    "unknown limits",
    () => runtime({ limits: { maxCalls: 3 } }),
    OPTION,
    'createRuntime: unknown option "maxCalls" of "limits"',
  ],
  [
    "a path instead of the options",
    () => createRuntime("app.db" as never),
    OPTION,
    'the options must be an object such as { store: "app.db" }, not "app.db"',
  ],
  [
    "a store in a folder that is not there",
    () => runtime({ store: "/nowhere/at/all/app.db" }).call(look, { q: "" }),
    "TOOL_STORE_FAILED",
    "is in a folder that does not exist",
    "Create the folder",
  ],
  [
    "another kind of database",
    () => runtime({ store: "mysql://ann:s3cr@t@localhost/app" }),
    OPTION,
    'store must be a path, a postgres:// address or an open store, not "mysql://ann:***@localhost/app"',
  ],
  [
    "a call on a runtime that was closed",
    async () => {
      const closed = createRuntime({ store: ":memory:" });
      await closed.close();
      return closed.call(look, { q: "" });
    },
    "TOOL_RUNTIME_CLOSED",
    "This runtime was closed",
    "Create a new runtime",
  ],
  [
    "a decision as a text",
    async () => {
      const { runtime: used, id } = await pending();
      return used.resolveToolApproval(id, "approve" as never);
    },
    OPTION,
    'must be an object such as { approved: true }, not "approve"',
  ],
  [
    "an approval instead of its id",
    async () => {
      const { runtime: used, id } = await pending();
      return used.resolveToolApproval({ id } as never, { approved: true });
    },
    OPTION,
    "id must be the id of an approval request, a string, not an object",
  ],
  [
    "no id of an approval",
    () => runtime().resolveToolApproval(undefined as never, { approved: true }),
    OPTION,
    "id must be the id of an approval request, a string, not undefined",
  ],
  [
    "the id of another approval",
    () => runtime().resolveToolApproval("apr_1", { approved: true }),
    "TOOL_APPROVAL_NOT_FOUND",
    'no approval request "apr_1"',
    "List the pending requests",
  ],
  [
    "edited arguments that do not fit",
    async () => {
      const { runtime: used, id } = await pending();
      return used.resolveToolApproval(id, { approved: true, approvedArgs: { q: 5 } });
    },
    "TOOL_INPUT_INVALID",
    "q: Invalid input: expected string, received number. The request stays open.",
    "Correct the named fields of approvedArgs, and decide again",
  ],
  [
    "a decision of an agent as a text",
    () => createSmartAgent({ model }).resolveToolApproval({} as never, "apr_1" as never),
    OPTION,
    'agent.resolveToolApproval: the options must be an object such as { id, approved: true } or { id, resolution: "run-again" }, not "apr_1"',
  ],
  [
    "a prompt instead of messages",
    () => createSmartAgent({ model }).invoke({ prompt: "Hi." } as never),
    OPTION,
    'input has an unknown field "prompt". It takes messages and runId.',
  ],
  [
    "an option of a run in an agent's input",
    () => createSmartAgent({ model }).invoke({ messages: [message], needsApproval: true } as never),
    OPTION,
    'input has an unknown field "needsApproval"',
  ],
  [
    "the result of an invoke instead of its state",
    () => createSmartAgent({ model }).invoke({ content: "", stop: "end", state: {} } as never),
    OPTION,
    "is the result of an invoke: pass its `state` to resume",
  ],
  [
    "a text instead of messages",
    () => runAgentLoop({ client, model: "m", messages: "Hi." } as never),
    OPTION,
    'messages must be a list of messages such as { role: "user", content: "Hello" }, not "Hi."',
  ],
  [
    "tools alongside a registry",
    () => createMcpServer({ tools: [look], registry: createRegistry([look]) }),
    OPTION,
    "createMcpServer: tools and registry cannot be given together",
    "Pass tools, or a registry that has all of them",
  ],
  [
    "no program for the commands",
    () => registerToolsAsCLI(undefined as never, {}),
    OPTION,
    "registerToolsAsCLI: program must be a Commander program, such as new Command(), not undefined",
  ],
  [
    "tools instead of a registry",
    () => registerToolsAsCLI(new Command(), { tools: [look] } as never),
    OPTION,
    'unknown option "tools". Known options: registry, runtime.',
  ],
  [
    "an invalid schema of a workflow",
    () => createSmithers({ out: { a: 1 } as never }),
    "WORKFLOW_INVALID",
    'output "out" must be a Zod 4 schema, not an object',
  ],
  [
    "the function of a workflow instead of the workflow",
    () => runWorkflow((() => undefined) as never),
    "WORKFLOW_INVALID",
    "needs what workflow() returned as its first argument",
    "export of the workflow file: workflow((ctx) =>",
  ],
  [
    "a path that is not a text",
    () => readFileTool(5 as never),
    "TOOL_INPUT_INVALID",
    "The path must be a string; it is number",
  ],
  [
    "a context without ids",
    () => nextToolSeq(undefined as never),
    OPTION,
    "must be an object, not undefined",
  ],
  [
    "a number that is a text",
    () => nextToolSeq({ seq: "5" }),
    OPTION,
    'nextToolSeq: seq must be an integer of at least 0, not "5"',
  ],
  [
    "a run id that is a number, for a key",
    () => getToolIdempotencyKey({ runId: 5 } as never),
    OPTION,
    "getToolIdempotencyKey: runId must be a string, not 5",
  ],
  [
    "the store under another name",
    () => createRuntime({ dbPath: "app.db" } as never),
    OPTION,
    'createRuntime: unknown option "dbPath". Did you mean "store"?',
  ],
  [
    "an option named like a method of every object",
    () => createRuntime({ constructor: "app.db" } as never),
    OPTION,
    'createRuntime: unknown option "constructor". Known options: store, ',
  ],
  [
    "the model under another name",
    () => createSmartAgent({ llm: model } as never),
    OPTION,
    'unknown option "llm". Did you mean "model"?',
  ],
  [
    "the run id under another name",
    () => runtime().run({ sessionId: "r" } as never, () => 1),
    OPTION,
    'runtime.run: unknown option "sessionId". Did you mean "runId"?',
  ],
  ["no run id", () => runtime().run({} as never, () => 1), OPTION, "runtime.run: runId is missing"],
  [
    "a promise instead of the work of a run",
    () => runtime().run({ runId: "r" }, Promise.resolve(1) as never),
    OPTION,
    "work must be a function, not a promise: what it does is not in the run. Write runtime.run({ runId }, () =>",
  ],
  [
    "the name of a model without a provider",
    () => createSmartAgent({ model: "gpt-5" }).invoke({ messages: [message] } as never),
    OPTION,
    'or an object with invoke(messages), not "gpt-5". Pass a model of a provider, such as openai("gpt-5")',
  ],
  [
    "an API key instead of the client",
    () => runAgentLoop({ client: "sk-1", model: "m", messages: [message] } as never),
    OPTION,
    "client must be an Anthropic client, such as new Anthropic(), not",
  ],
  [
    "a confirmation under another name",
    () => defineTool({ ...base, confirm: true } as never),
    DEFINITION,
    'confirm is called "needsApproval" here',
  ],
  [
    "a function under another name",
    () => defineTool({ name: "pay", schema, fn: () => 1 } as never),
    DEFINITION,
    'fn is called "execute" here',
  ],
  [
    "no schema",
    () => defineTool({ name: "pay", execute: () => 1 } as never),
    DEFINITION,
    "schema must be a Zod 4 schema, not undefined. Without arguments: z.object({}).",
  ],
  [
    "no function",
    () => defineTool({ name: "pay", schema } as never),
    DEFINITION,
    "execute must be a function, not undefined",
  ],
  [
    "no name",
    () => defineTool({ schema, execute: () => 1 } as never),
    DEFINITION,
    "name must be a non-empty string, not undefined",
  ],
  [
    "a forgotten return",
    () => failing({ outputSchema: z.object({ id: z.string() }), execute: () => undefined }, { q: "" }),
    "TOOL_OUTPUT_INVALID",
    "expected object, received undefined",
  ],
  [
    "a forgotten await in an output",
    () => failing({ execute: () => ({ order: Promise.resolve(1) }) }, { q: "" }),
    "TOOL_OUTPUT_INVALID",
    "order is a Promise, which cannot be stored",
  ],
  [
    "a response of fetch as the output",
    () => failing({ execute: () => new Response("x") }, { q: "" }),
    "TOOL_OUTPUT_INVALID",
    "is a Response, which cannot be stored; use plain data",
  ],
  [
    "no arguments",
    () => failing({ execute: () => 1 }, undefined),
    "TOOL_INPUT_INVALID",
    "expected object, received undefined",
  ],
  [
    "a folder as the store",
    () => runtime({ store: import.meta.dirname }).call(look, { q: "" }),
    "TOOL_STORE_FAILED",
    "is a folder, not a file",
    "Name a file in it",
  ],
  [
    "a PostgreSQL server that is not running",
    () => runtime({ store: "postgres://u@127.0.0.1:1/app" }).call(look, { q: "" }),
    "TOOL_STORE_FAILED",
    "ECONNREFUSED",
    "Start the server, or correct the host and the port",
  ],
  [
    "one schema instead of schemas by name",
    () => createWorkflows(z.object({ n: z.number() }) as never),
    "WORKFLOW_INVALID",
    "needs an object with one schema for each output, not a single schema",
    "createWorkflows({ output: schema })",
  ],
  [
    "a workflow that was not awaited",
    () => runWorkflow(Promise.resolve({}) as never),
    "WORKFLOW_INVALID",
    "needs what workflow() returned as its first argument, not a promise (await it first)",
  ],
  [
    "an async function of a workflow",
    async () => {
      const { workflow } = createWorkflows({ output: z.object({ n: z.number() }) });
      throw (await runWorkflow(workflow((async () => null) as never), { runtime: runtime() })).error;
    },
    "WORKFLOW_INVALID",
    "is async; it must return the tree synchronously",
  ],
  [
    "an approval outside any run",
    () => defineTool({ ...base, needsApproval: true }).execute({ q: "" }),
    "TOOL_APPROVAL_REQUIRED",
    "needs approval, but it was called outside any run",
    "Call the tool inside a run",
  ],
];

test.each<Mistake>(MISTAKES)("%s", async (_what, make, code, says, hint = "") => {
  const warn = vi.spyOn(console, "warn").mockReturnValue();
  onTestFinished(() => warn.mockRestore());
  let thrown: unknown;
  try {
    await make();
  } catch (error) {
    thrown = error;
  }
  if (!ToolwrightError.is(thrown)) expect.fail(`not a ToolwrightError: ${String(thrown)}`);
  expect(thrown.message).toContain(says);
  expect(thrown.code).toBe(code);
  expect(thrown.hint).toContain(hint);
  expect(thrown.hint).not.toBe("");
});

test("paths to hide are found in lists, unions, optional and renamed fields, and open objects", () => {
  const deep = z.object({
    cards: z.array(z.object({ no: z.string() })).optional(),
    pay: z.union([z.object({ iban: z.string() }), z.object({ card: z.string() })]),
    "a.b": z.string(),
    extra: z.record(z.string(), z.unknown()),
    both: z.object({ x: z.string() }).and(z.object({ y: z.string() })),
    json: z.string().transform((text) => JSON.parse(text) as unknown),
  });
  const hide = (path: string): unknown =>
    defineTool({ name: "t", schema: deep, execute: () => 1, redact: { input: [path] } });
  for (const path of [
    "cards.no",
    "cards.*.no",
    "cards.0.no",
    "pay.iban",
    "a.b",
    "extra.any",
    "both.y",
    "*.no",
  ])
    expect(() => hide(path), path).not.toThrow();
  for (const path of ["json.secret", "cards"]) expect(() => hide(path), path).not.toThrow();
  for (const path of ["card.no", "cards.number", "pay.bic", "both.z", "a.c"])
    expect(() => hide(path), path).toThrow("nothing would be hidden");
  const open = z.looseObject({ q: z.string() });
  expect(() => defineTool({ ...base, schema: open, redact: { input: ["any"] } })).not.toThrow();
});

test("a copy, and a policy about a tool, are checked in the same way", () => {
  expect(() => fromTool(look, { redact: { input: ["p"] } })).toThrow("nothing would be hidden");
  expect(() => toTools([{ ...look, redact: { input: ["p"] } }])).toThrow("nothing would be hidden");
  expect(() =>
    fromTool({ name: "x", inputSchema: schema, execute: () => 1, redact: { input: ["p"] } }),
  ).toThrow("nothing would be hidden");
});

test("names that one provider refuses stay possible: they are mapped for it", () => {
  for (const name of ["shop.place_order", "my tool", "repo/search", "größe", "x".repeat(70)])
    expect(defineTool({ ...base, name }).name).toBe(name);
});

test("a warning about a missing key is not printed to an author who says that the service takes none", () => {
  using warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
  const effect = { schema, sideEffect: true, idempotent: false, execute: () => 1 };
  defineTool({ ...effect, name: "warned-about-key" });
  expect(warn).toHaveBeenCalledOnce();
  defineTool({ ...effect, name: "decided-about-key", acceptsIdempotencyKey: false });
  expect(warn).toHaveBeenCalledOnce();
});

test.each<[string, () => unknown, string]>([
  [
    "one tool instead of a list",
    () => toTools(look as never),
    'tools must be a list, not the tool "look" itself',
  ],
  ["one tool for MCP", () => createMcpServer({ tools: look as never }), "not the tool"],
  [
    "an address for a client",
    () => importMcpTools({ url: "http://x" } as never),
    "client must be a connected MCP client",
  ],
  [
    "an address in mcpTools",
    () => mcpTools({ a: { url: "http://x" } as never }),
    "clients.a must be a connected MCP client",
  ],
  [
    "a short field in other letters",
    () => runWithToolContext({ runid: "r" } as never, () => 1),
    'Did you mean "runId"?',
  ],
])("%s", async (_what, make, says) => {
  await expect((async () => make())()).rejects.toThrow(says);
});
