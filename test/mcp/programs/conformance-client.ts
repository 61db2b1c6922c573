/**
 * The client that the official conformance suite starts: the official client, whose tools are imported and called as
 * any program does it. The suite's server is the last argument; the scenario and the protocol are in the environment.
 */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { importMcpTools } from "../../../src/adapters/mcp/index.ts";
import { createRuntime } from "../../../src/index.ts";

const { MCP_CONFORMANCE_PROTOCOL_VERSION: version = "2025-11-25", MCP_CONFORMANCE_CONTEXT: context = "{}" } =
  process.env;
const client = new Client(
  { name: "toolwright", version: "1.0.0" },
  {
    capabilities: { elicitation: { form: { applyDefaults: true } } },
    versionNegotiation: { mode: version === "2026-07-28" ? { pin: version } : "legacy" },
  },
);
client.setRequestHandler("elicitation/create", () => ({ action: "accept", content: {} }));
await client.connect(new StreamableHTTPClientTransport(new URL(process.argv.at(-1) ?? "")));

const runtime = createRuntime({ store: ":memory:" });
const tools = await importMcpTools(client);
const { toolCalls } = JSON.parse(context) as {
  toolCalls?: readonly { readonly name: string; readonly arguments: object }[];
};
const calls = toolCalls ?? tools.map(({ name }) => ({ name, arguments: argumentsOf(name) }));
for (const { name, arguments: args } of calls) {
  const tool = tools.find((candidate) => candidate.name === name);
  // A program omits arguments without a value.
  const given = Object.entries(args).filter(([, value]) => value !== null);
  if (tool !== undefined) await runtime.call(tool, Object.fromEntries(given));
}
await runtime.close();
await client.close();

function argumentsOf(name: string): object {
  if (name === "add_numbers") return { a: 5, b: 3 };
  if (name === "json_schema_echo") return { schema: schemaOf("json_schema_2020_12_tool") };
  const { properties = {} } = schemaOf(name) ?? {};
  const samples: Readonly<Record<string, unknown>> = { string: "a", number: 1, integer: 1, boolean: true };
  return Object.fromEntries(Object.entries(properties).map(([field, { type }]) => [field, samples[type]]));
}

function schemaOf(name: string): { properties?: Record<string, { type: string }> } | undefined {
  return tools.find((tool) => tool.name === name)?.inputSchema.jsonSchema;
}
