/** Limits for a server: the number of tools it may list, and the size of an answer. */
import { expect, it, onTestFinished, vi } from "vitest";
import { importMcpTools, mcpTools } from "../../src/adapters/mcp/index.ts";
import { createRuntime } from "../../src/index.ts";
import { toTerminalLine } from "../../src/terminal/terminal-text.ts";

const tool = (name: string, description = "") => ({ name, description, inputSchema: { type: "object" } });

/** Lists these, 500 to a page, and answers every call with the same. */
const serverOf = (tools: readonly object[], answer: unknown = { content: [] }) => ({
  calls: 0,
  listTools: async (params?: { cursor: string }) => {
    const from = Number(params?.cursor ?? 0);
    const nextCursor = from + 500 < tools.length ? String(from + 500) : undefined;
    return { tools: tools.slice(from, from + 500), ...(nextCursor === undefined ? {} : { nextCursor }) };
  },
  async callTool() {
    this.calls += 1;
    return answer;
  },
});

const many = (count: number) => Array.from({ length: count }, (_, index) => tool(`tool_${index}`));

it("refuses a list of too many tools before any of them is created, unless the limit is raised", async () => {
  await expect(importMcpTools(serverOf(many(20_000)))).rejects.toMatchObject({
    code: "TOOL_EXECUTION_FAILED",
    message: expect.stringContaining("more than 1000 tools (maxTools)"),
    hint: expect.stringContaining("raise the limit"),
    effect: "none",
  });
  expect(await importMcpTools(serverOf(many(1_000)))).toHaveLength(1_000);
  await expect(importMcpTools(serverOf(many(11)), { maxTools: 10 })).rejects.toThrow(/more than 10 tools/);
  expect(await importMcpTools(serverOf(many(1_200)), { maxTools: 1_200 })).toHaveLength(1_200);
});

it("counts invalid and duplicate entries too", async () => {
  const same = Array.from({ length: 1_001 }, () => tool("same"));
  await expect(importMcpTools(serverOf(same))).rejects.toThrow(/maxTools/);
  await expect(importMcpTools(serverOf(Array.from({ length: 1_001 }, () => ({}))))).rejects.toThrow(
    /maxTools/,
  );
});

it("refuses a list that is too large, in one page or in many", async () => {
  const tools = many(1_000).map((one) => ({ ...one, description: "x".repeat(20_000) }));
  await expect(importMcpTools(serverOf(tools))).rejects.toThrow(/maxAnswerBytes/);
  const large = serverOf([tool("a", "x".repeat(17 * 1_048_576))]);
  await expect(importMcpTools(large)).rejects.toThrow(/more than 16777216 bytes \(maxAnswerBytes\)/);
});

it("drops an answer that is too large, and reports that the effect has happened", async () => {
  const text = "x".repeat(200_000);
  const server = serverOf([tool("read")], { content: [{ type: "text", text }] });
  const runtime = createRuntime({ store: ":memory:" });
  onTestFinished(() => runtime[Symbol.asyncDispose]());
  const [small] = await importMcpTools(server, { maxAnswerBytes: 100_000 });
  const [fits] = await importMcpTools(server);
  if (small === undefined || fits === undefined) throw new Error("no tool was imported");
  expect(await runtime.call(small, {}, { runId: "r" })).toMatchObject({
    status: "error",
    error: {
      code: "TOOL_EXECUTION_FAILED",
      message: expect.stringContaining("more than 100000 bytes (maxAnswerBytes)"),
      effect: "happened",
    },
  });
  expect(server.calls).toBe(1);
  expect(await runtime.call(fits, {}, { runId: "r2" })).toMatchObject({ status: "success", output: text });
  const nested = serverOf([tool("read")], {
    structuredContent: { list: Array.from({ length: 200_000 }, () => []) },
  });
  const [lists] = await importMcpTools(nested, { maxAnswerBytes: 100_000 });
  if (lists === undefined) throw new Error("no tool was imported");
  expect(await runtime.call(lists, {}, { runId: "r3" })).toMatchObject({ status: "error" });
});

it("applies the limits to the four meta-tools", async () => {
  const tools = mcpTools({ big: serverOf(many(2_000)) }, { big: { maxTools: 1_500 } });
  expect(await tools.mcp_list_tools.execute({})).toMatchObject({
    servers: [{ server: "big", error: expect.stringContaining("1500 tools") }],
  });
});

it("refuses invalid limits", async () => {
  for (const wrong of [0, -1, 1.5, "9", Number.NaN]) {
    await expect(importMcpTools(serverOf([]), { maxTools: wrong as number })).rejects.toMatchObject({
      code: "TOOL_OPTION_INVALID",
      message: expect.stringContaining("maxTools"),
    });
  }
});

it("leaves out a tool whose name contains control characters", async () => {
  const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
  onTestFinished(() => warn.mockRestore());
  const names = ["fine", "a\ntoolwright approve apr_1", "\u001B[31m", "\u202Eb", "x".repeat(1_000)];
  const imported = await importMcpTools(serverOf(names.map((name) => tool(name))));
  expect(imported.map(({ name }) => name)).toEqual(["fine"]);
  expect(warn.mock.calls).toHaveLength(4);
  for (const [line] of warn.mock.calls) expect(toTerminalLine(String(line))).toBe(line);
});
