/** The four meta-tools: a model finds a server's tool, reads about it, and calls it under its policies. */
import { expect, it, onTestFinished } from "vitest";
import { mcpTools, type McpImportPolicy, type McpTools } from "../../src/adapters/mcp/index.ts";
import { createRuntime, type Runtime } from "../../src/index.ts";
import { connect, createServerFolder, ledgerOf } from "./harness.ts";

async function open(
  policy: McpImportPolicy = {},
): Promise<{ folder: string; tools: McpTools; runtime: Runtime }> {
  const folder = createServerFolder();
  const dead = await connect(createServerFolder());
  await dead.close();
  const tools = mcpTools({ shop: await connect(folder), dead }, { shop: policy });
  const runtime = createRuntime({ store: ":memory:" });
  onTestFinished(() => runtime[Symbol.asyncDispose]());
  return { folder, tools, runtime };
}

it("lists and searches the tools of all servers, and shows which one is unavailable", async () => {
  const { tools } = await open({ tools: { slow: false } });
  const { servers } = (await tools.mcp_list_tools.execute({})) as {
    servers: { server: string; tools: { name: string }[]; error?: string }[];
  };
  expect(servers.map(({ server, error }) => [server, error !== undefined])).toEqual([
    ["shop", false],
    ["dead", true],
  ]);
  const names = servers[0]?.tools.map(({ name }) => name);
  expect(names).toContain("place_order");
  expect(names).not.toContain("slow");
  expect(await tools.mcp_search.execute({ query: "place order", limit: 2 })).toMatchObject({
    tools: [
      { server: "shop", name: "place_order" },
      { server: "shop", name: "place_blind" },
    ],
    unavailable: [{ server: "dead" }],
  });
});

it("shows the schemas of one tool, and suggests others if there is no such tool", async () => {
  const { tools } = await open();
  expect(await tools.mcp_info.execute({ server: "shop", tool: "add" })).toMatchObject({
    server: "shop",
    name: "add",
    inputSchema: { required: ["a"] },
    outputSchema: { properties: { sum: { type: "number" } } },
  });
  await expect(tools.mcp_info.execute({ server: "shop", tool: "place" })).rejects.toMatchObject({
    code: "TOOL_NOT_FOUND",
    hint: expect.stringContaining("place_order"),
  });
  await expect(tools.mcp_exec.execute({ server: "mars", tool: "add" })).rejects.toMatchObject({
    code: "TOOL_NOT_FOUND",
    hint: "Use one of: shop, dead.",
  });
});

it("checks the arguments against the server's schema, and keeps structured content", async () => {
  const { folder, tools, runtime } = await open();
  const exec = (tool: string, args: Record<string, unknown>) =>
    runtime.call(tools.mcp_exec, { server: "shop", tool, args }, { runId: "r" });
  expect(await exec("place_order", { sku: 7 })).toMatchObject({
    status: "error",
    error: { code: "TOOL_INPUT_INVALID", message: expect.stringContaining("shop.place_order") },
  });
  expect(ledgerOf(folder)).toEqual([]);
  expect(await exec("place_order", { sku: "apple" })).toMatchObject({ output: { sku: "apple", orders: 1 } });
  const calls = await runtime.calls({ runId: "r" });
  expect(calls.map(({ toolName, status }) => [toolName, status])).toContainEqual([
    "shop.place_order",
    "success",
  ]);
});

it("does not bypass an approval, and runs once when it is given", async () => {
  const { folder, tools, runtime } = await open({ tools: { place_order: { needsApproval: true } } });
  const call = { server: "shop", tool: "place_order", args: { sku: "gold" } };
  const exec = () => runtime.call(tools.mcp_exec, call, { runId: "r", callKey: "one" });
  expect(await exec()).toMatchObject({
    status: "pending",
    approval: { toolName: "shop.place_order", args: { sku: "gold" } },
  });
  expect(ledgerOf(folder)).toEqual([]);
  const [request] = await runtime.approvals({ status: "pending" });
  await runtime.resolveToolApproval(request?.id ?? "", { approved: true });
  expect(await exec()).toMatchObject({ status: "success", output: { sku: "gold", orders: 1 } });
  expect(await exec()).toMatchObject({ status: "success", replayed: true });
  expect(ledgerOf(folder)).toEqual(["gold"]);
  await expect(tools.mcp_exec.execute(call)).rejects.toMatchObject({ code: "TOOL_APPROVAL_REQUIRED" });
});

it("hides tools that the policy excludes", async () => {
  const { folder, tools, runtime } = await open({ tools: { place_order: false } });
  const outcome = await runtime.call(tools.mcp_exec, {
    server: "shop",
    tool: "place_order",
    args: { sku: "x" },
  });
  expect(outcome).toMatchObject({ status: "error", error: { code: "TOOL_NOT_FOUND" } });
  expect(ledgerOf(folder)).toEqual([]);
});
