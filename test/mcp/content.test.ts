/** Content besides structured content, and the metadata of a server's tools, are passed on. */
import { Client } from "@modelcontextprotocol/client";
import { InMemoryTransport, McpServer } from "@modelcontextprotocol/server";
import { createRuntime, defineTool, type Tool } from "toolwright";
import { createMcpServer, importMcpTools, type McpImportPolicy } from "toolwright/mcp";
import { expect, it, onTestFinished } from "vitest";
import { z } from "zod";

const PNG = "iVBORw0KGgo=";
const BLOCKS = [
  { type: "text" as const, text: "A chart of two days", annotations: { audience: ["user" as const] } },
  { type: "image" as const, data: PNG, mimeType: "image/png" },
  { type: "audio" as const, data: "UklGRg==", mimeType: "audio/wav" },
  { type: "resource_link" as const, uri: "file:///report.pdf", name: "report" },
  { type: "resource" as const, resource: { uri: "test://a", mimeType: "text/plain", text: "embedded" } },
];
const ICONS = [{ src: "https://example.com/a.png", mimeType: "image/png" }];

function createPlainServer(): McpServer {
  const server = new McpServer({ name: "plain", version: "1.0.0" });
  const about = {
    title: "Weather chart",
    description: "Draws a chart",
    annotations: { readOnlyHint: true, openWorldHint: false, title: "Chart" },
    icons: ICONS,
    _meta: { "example.com/team": "weather" },
  };
  const outputSchema = z.object({ days: z.number() });
  const structuredContent = { days: 2 };
  server.registerTool("chart", { ...about, outputSchema }, () => ({ structuredContent, content: BLOCKS }));
  server.registerTool("plain", { description: "Plain", outputSchema }, () => ({
    structuredContent,
    content: [{ type: "text", text: JSON.stringify(structuredContent) }],
  }));
  server.registerTool("image", { description: "An image" }, () => ({
    content: [BLOCKS[1] as (typeof BLOCKS)[1]],
  }));
  return server;
}

async function connect(server: McpServer): Promise<Client> {
  const client = new Client({ name: "a test", version: "1.0.0" });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(theirs), client.connect(ours)]);
  onTestFinished(() => client.close());
  return client;
}

async function importAll(policy: McpImportPolicy = {}): Promise<Record<string, Tool>> {
  const tools = await importMcpTools(await connect(createPlainServer()), policy);
  return Object.fromEntries(tools.map((tool) => [tool.name, tool]));
}

function openRuntime() {
  const runtime = createRuntime({ store: ":memory:" });
  onTestFinished(() => runtime.close());
  return runtime;
}

it("an imported tool keeps its title and its output schema, and all content alongside structured content", async () => {
  const { chart, plain, image } = await importAll();
  expect(chart).toMatchObject({ title: "Weather chart", description: "Draws a chart" });
  expect(chart?.outputSchema?.jsonSchema).toMatchObject({ properties: { days: { type: "number" } } });
  const runtime = openRuntime();
  expect(await runtime.call(chart as Tool, {}, { runId: "r" })).toMatchObject({
    output: { content: BLOCKS, structuredContent: { days: 2 } },
  });
  // Content that only repeats the structured content adds nothing.
  expect(await runtime.call(plain as Tool, {}, { runId: "r" })).toMatchObject({ output: { days: 2 } });
  expect(await runtime.call(image as Tool, {}, { runId: "r" })).toMatchObject({
    output: { content: [BLOCKS[1]] },
  });
});

it("structured content that does not match its schema is refused, with any other content", async () => {
  const client = {
    listTools: async () => ({
      tools: [
        {
          name: "lies",
          inputSchema: { type: "object" },
          outputSchema: { type: "object", properties: { days: { type: "number" } }, required: ["days"] },
        },
      ],
    }),
    callTool: async () => ({ structuredContent: { days: "two" }, content: BLOCKS }),
  };
  const [lies] = await importMcpTools(client);
  expect(await openRuntime().call(lies as Tool, {}, { runId: "r" })).toMatchObject({
    status: "error",
    error: { code: "TOOL_OUTPUT_INVALID", message: expect.stringContaining("days") },
  });
});

it("AI SDK models see the images of imported tools, and the structured content", async () => {
  const { chart } = await importAll();
  const runtime = openRuntime();
  const output = await runtime.run({ runId: "r" }, () => chart?.execute({}));
  const shown = await chart?.toModelOutput({ toolCallId: "c", input: {}, output });
  expect(shown).toMatchObject({
    type: "content",
    value: expect.arrayContaining([
      { type: "text", text: "A chart of two days" },
      { type: "file", mediaType: "image/png", data: { type: "data", data: PNG } },
      { type: "text", text: '{"days":2}' },
    ]),
  });
});

it("an imported tool that is served again is unchanged, and so are its results", async () => {
  const before = await connect(createPlainServer());
  const tools = await importMcpTools(before);
  const again = await connect(createMcpServer({ tools, runtime: openRuntime() }));
  const [listed, original] = await Promise.all([again.listTools(), before.listTools()]);
  for (const [index, tool] of original.tools.entries()) {
    const { inputSchema, outputSchema, annotations, ...about } = tool;
    expect(listed.tools[index]).toMatchObject({
      ...about,
      annotations: annotations ?? {},
      inputSchema,
      ...(outputSchema === undefined ? {} : { outputSchema }),
    });
  }
  for (const name of ["chart", "image"]) {
    const [{ content, structuredContent }, plain] = await Promise.all([
      again.callTool({ name, arguments: {} }),
      before.callTool({ name, arguments: {} }),
    ]);
    expect({ content, structuredContent }).toEqual({
      content: plain.content,
      structuredContent: plain.structuredContent,
    });
  }
});

it("hints of the server are passed on, and the policy takes precedence for effects", async () => {
  const { chart } = await importAll({ tools: { chart: { sideEffect: true, idempotent: false } } });
  const client = await connect(createMcpServer({ tools: [chart as Tool], runtime: openRuntime() }));
  const [tool] = (await client.listTools()).tools;
  expect(tool?.annotations).toEqual({
    title: "Chart",
    openWorldHint: false,
    readOnlyHint: false,
    destructiveHint: true,
    idempotentHint: false,
  });
});

it("content and media of our own tools are content of the result, in every shape that is known", async () => {
  const image = { type: "image", data: PNG, mimeType: "image/png" };
  const outputs: Record<string, unknown> = {
    result: { content: BLOCKS, structuredContent: { days: 2 } },
    failed: { content: [{ type: "text", text: "out of order" }], isError: true },
    sdk: { type: "content", value: [{ type: "image-data", mediaType: "image/png", data: PNG }] },
    single: { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } },
    pdf: [{ type: "file", mediaType: "application/pdf", data: PNG, filename: "a.pdf" }],
    record: { content: "a text", author: "a writer" },
  };
  const tools = Object.entries(outputs).map(([name, output]) =>
    defineTool({ name, schema: z.object({}), execute: () => output }),
  );
  const promised = defineTool({
    name: "promised",
    schema: z.object({}),
    outputSchema: z.object({ content: z.array(z.object({ type: z.literal("text"), text: z.string() })) }),
    execute: () => ({ content: [{ type: "text" as const, text: "a" }] }),
  });
  const client = await connect(createMcpServer({ tools: [...tools, promised], runtime: openRuntime() }));
  const call = async (name: string) => {
    const { content, structuredContent, isError } = await client.callTool({ name, arguments: {} });
    return { content, structuredContent, isError };
  };
  expect(await call("result")).toEqual({ content: BLOCKS, structuredContent: { days: 2 } });
  expect(await call("failed")).toMatchObject({ content: [{ text: "out of order" }], isError: true });
  expect(await call("sdk")).toEqual({ content: [image] });
  expect(await call("single")).toEqual({ content: [image] });
  expect((await call("pdf")).content).toEqual([
    { type: "resource", resource: { uri: "file:///a.pdf", mimeType: "application/pdf", blob: PNG } },
  ]);
  expect((await call("record")).structuredContent).toEqual(outputs["record"]);
  expect(await call("promised")).toEqual({
    content: [{ type: "text", text: "a" }],
    structuredContent: { content: [{ type: "text", text: "a" }] },
  });
});
