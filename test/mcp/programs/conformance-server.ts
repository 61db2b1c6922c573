/**
 * The tools that the official conformance suite calls, served as any program would serve its tools. Prints its
 * address.
 */
import { setTimeout as pause } from "node:timers/promises";
import { createRuntime, defineTool } from "../../../src/index.ts";
import { importMcpTools, serveMcpHttp } from "../../../src/adapters/mcp/index.ts";
import { z } from "zod";

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const WAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=";
const nothing = z.object({});
const content = (name: string, ...blocks: readonly object[]) =>
  defineTool({ name, description: name, schema: nothing, execute: () => ({ content: blocks }) });

const tools = [
  defineTool({
    name: "test_simple_text",
    description: "Returns a text",
    schema: nothing,
    execute: () => "This is a simple text response for testing.",
  }),
  content("test_image_content", { type: "image", data: PNG, mimeType: "image/png" }),
  content("test_audio_content", { type: "audio", data: WAV, mimeType: "audio/wav" }),
  content("test_embedded_resource", {
    type: "resource",
    resource: {
      uri: "test://embedded-resource",
      mimeType: "text/plain",
      text: "This is an embedded resource content.",
    },
  }),
  content(
    "test_multiple_content_types",
    { type: "text", text: "Multiple content types test:" },
    { type: "image", data: PNG, mimeType: "image/png" },
    {
      type: "resource",
      resource: {
        uri: "test://mixed-content-resource",
        mimeType: "application/json",
        text: '{"test":"data","value":123}',
      },
    },
  ),
  defineTool({
    name: "test_tool_with_logging",
    description: "Logs three messages",
    schema: nothing,
    execute: async (_args, ctx) => {
      ctx.log.info("Tool execution started");
      await pause(50);
      ctx.log.info("Tool processing data");
      await pause(50);
      ctx.log.info("Tool execution completed");
      return "Logged.";
    },
  }),
  defineTool({
    name: "test_error_handling",
    description: "Fails",
    schema: nothing,
    execute: () => {
      throw new Error("This tool intentionally returns an error for testing");
    },
  }),
  defineTool({
    name: "test_tool_with_progress",
    description: "Reports progress",
    schema: nothing,
    execute: async (_args, ctx) => {
      ctx.progress(0, 100);
      await pause(50);
      ctx.progress(50, 100);
      await pause(50);
      ctx.progress(100, 100);
      return "Reported.";
    },
  }),
  defineTool({
    name: "test_reconnection",
    description: "Takes long enough for a client to connect again",
    schema: nothing,
    execute: async () => {
      await pause(100);
      return "Reconnection test completed.";
    },
  }),
  defineTool({
    name: "test_logging_tool",
    description: "Logs at every level",
    schema: nothing,
    execute: (_args, ctx) => {
      for (const level of ["debug", "info", "warn", "error"] as const) ctx.log[level](level);
      return "Logged.";
    },
  }),
  defineTool({
    name: "test_custom_header",
    description: "Takes an argument that is also sent as a header",
    schema: z.object({ region: z.string().meta({ "x-mcp-header": "Region" }) }),
    execute: ({ region }) => region,
  }),
  // The client's user decides whether the call may run.
  ...[
    "test_elicitation",
    "test_streaming_elicitation",
    "test_input_required_result_elicitation",
    "test_input_required_result_request_state",
    "test_input_required_result_tampered_state",
  ].map((name) =>
    defineTool({
      name,
      description: "Needs approval",
      schema: z.object({ message: z.string().optional() }),
      needsApproval: true,
      execute: () => "Approved.",
    }),
  ),
];

/** A tool of another server, with a schema that Zod cannot express: it is served unchanged. */
const imported = await importMcpTools({
  callTool: async () => ({ content: [{ type: "text", text: "Checked." }] }),
  listTools: async () => ({
    tools: [
      {
        name: "json_schema_2020_12_tool",
        description: "Tool with JSON Schema 2020-12 features",
        inputSchema: {
          $schema: "https://json-schema.org/draft/2020-12/schema",
          type: "object",
          $defs: {
            address: {
              $anchor: "addressDef",
              type: "object",
              properties: { street: { type: "string" }, city: { type: "string" } },
            },
          },
          properties: {
            name: { type: "string" },
            address: { $ref: "#/$defs/address" },
            contactMethod: { type: "string", enum: ["phone", "email"] },
            phone: { type: "string" },
            email: { type: "string" },
          },
          allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
          if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
          // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
          then: { required: ["phone"] },
          else: { required: ["email"] },
          additionalProperties: false,
        },
      },
    ],
  }),
});

const runtime = createRuntime({ store: ":memory:" });
const server = await serveMcpHttp({ tools: [...tools, ...imported], runtime, token: false });
console.log(server.url);
