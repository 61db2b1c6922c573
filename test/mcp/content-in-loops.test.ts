/**
 * Content of imported tools in the loops of other SDKs: what a model can be shown arrives as media, the rest is
 * named.
 */
import { Client } from "@modelcontextprotocol/client";
import { InMemoryTransport, McpServer } from "@modelcontextprotocol/server";
import { createRuntime, runAgentLoop, type Tool } from "toolwright";
import { toAnthropicRunnableTool } from "toolwright/anthropic";
import { toLangChainTool } from "toolwright/langchain";
import { importMcpTools } from "toolwright/mcp";
import { toOpenAIAgentTool } from "toolwright/openai-agents";
import { expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { call, serve, user } from "../anthropic/harness.ts";
import { calls, runner, say, script } from "../openai-agents/harness.ts";

const PNG = "iVBORw0KGgo=";
const base64 = (text: string): string => Buffer.from(text).toString("base64");
const image = { type: "image" as const, data: PNG, mimeType: "image/png" };
const STRUCTURED = { days: 2 };

/** Each kind of block once, and three that are unusual: wrapped base64, text sent as bytes, and an empty resource. */
const BLOCKS = [
  { type: "text" as const, text: "A chart" },
  image,
  { ...image, data: "iVBORw0K\nGgo=" },
  { type: "audio" as const, data: "UklGRg==", mimeType: "audio/wav" },
  { type: "resource_link" as const, uri: "file:///report.pdf", name: "report" },
  { type: "resource" as const, resource: { uri: "test://notes", mimeType: "text/plain", text: "embedded" } },
  {
    type: "resource" as const,
    resource: { uri: "test://a/rows.csv", mimeType: "text/csv", blob: base64("a,b") },
  },
  {
    type: "resource" as const,
    resource: { uri: "test://a/may.pdf", mimeType: "application/pdf", blob: PNG },
  },
  { type: "resource" as const, resource: { uri: "test://empty", blob: "" } },
];

const TEXTS = {
  chart: "A chart",
  audio: "[audio/wav, 4 bytes: cannot be shown here]",
  link: expect.stringContaining("file:///report.pdf") as string,
  notes: "[test://notes]\nembedded",
  rows: "[test://a/rows.csv]\na,b",
  empty: expect.stringContaining("test://empty") as string,
  structured: JSON.stringify(STRUCTURED),
};

async function importChart(): Promise<Tool> {
  const server = new McpServer({ name: "plain", version: "1.0.0" });
  const outputSchema = z.object({ days: z.number() });
  server.registerTool("chart", { description: "Draws", outputSchema }, () => ({
    structuredContent: STRUCTURED,
    content: BLOCKS,
  }));
  const client = new Client({ name: "a test", version: "1.0.0" });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(theirs), client.connect(ours)]);
  onTestFinished(() => client.close());
  const [chart] = await importMcpTools(client);
  return chart as Tool;
}

it("OpenAI agents see images and files under their names, and read other content as text", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const { agent, model } = script(
    [toOpenAIAgentTool(await importChart())],
    calls(["chart", {}, "c"]),
    say("done"),
  );
  await runtime.run({ runId: "r" }, () => runner.run(agent, "Draw."));
  const input = model.lastCall?.request.input;
  const result = typeof input === "object" ? input.find(({ type }) => type === "function_call_result") : {};
  const text = (said: string) => ({ type: "input_text", text: said });
  const shown = { type: "input_image", image: `data:image/png;base64,${PNG}` };
  expect(result).toMatchObject({
    output: [
      text(TEXTS.chart),
      shown,
      shown,
      text(TEXTS.audio),
      text(TEXTS.link),
      text(TEXTS.notes),
      text(TEXTS.rows),
      { type: "input_file", file: `data:application/pdf;base64,${PNG}`, filename: "may.pdf" },
      text(TEXTS.empty),
      text(TEXTS.structured),
    ],
  });
});

it("Anthropic models see images and documents, in the SDK's runner and in our loop", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const chart = await importChart();
  const source = (media_type: string) => ({ type: "base64", media_type, data: PNG });
  const text = (said: string) => ({ type: "text", text: said });
  const shown = { type: "image", source: source("image/png") };
  const expected = [
    text(TEXTS.chart),
    shown,
    shown,
    text(TEXTS.audio),
    text(TEXTS.link),
    text(TEXTS.notes),
    text(TEXTS.rows),
    { type: "document", source: source("application/pdf") },
    text(TEXTS.empty),
    text(TEXTS.structured),
  ];
  const messages = [user("Draw.")];
  const inRunner = await serve([[call("chart", {})], "Done."]);
  await runtime.run({ runId: "runner" }, () =>
    inRunner.client.beta.messages
      .toolRunner({
        model: "m",
        max_tokens: 10,
        messages,
        thread: false,
        tools: [toAnthropicRunnableTool(chart) as never],
      })
      .runUntilDone(),
  );
  const inLoop = await serve([[call("chart", {})], "Done."]);
  await runAgentLoop({
    client: inLoop.client,
    model: "m",
    messages,
    tools: [chart],
    runtime,
    runId: "loop",
    maxTokens: 10,
  });
  for (const { server } of [inRunner, inLoop]) {
    expect(server.requests[1]?.body.messages[2]?.content).toMatchObject([
      { type: "tool_result", content: expected },
    ]);
  }
});

it("LangChain messages hold the images, and files with their names", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const chart = toLangChainTool(await importChart());
  const message = await runtime.run({ runId: "r" }, () =>
    chart.invoke({ type: "tool_call", id: "c", name: "chart", args: {} }),
  );
  expect(message).toMatchObject({
    content: expect.arrayContaining([
      { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } },
      { type: "audio", mimeType: "audio/wav", data: "UklGRg==" },
      { type: "file", mimeType: "application/pdf", data: PNG, metadata: { filename: "may.pdf" } },
      { type: "text", text: TEXTS.structured },
    ]),
  });
});
