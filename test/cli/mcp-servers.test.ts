/** `mcpServers` in toolwright.config.ts: four tools find and call the tools of other servers. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createFolder, MAIN, toolwright } from "./command.ts";

/** A server in its own folder: this same command. */
const SERVER = `
import { appendFileSync } from "node:fs";
import { defineTool } from "toolwright";
import { z } from "zod";
export default {
  tools: [
    defineTool({
      name: "place_order", description: "Places an order", schema: z.object({ sku: z.string() }), sideEffect: true,
      outputSchema: z.object({ sku: z.string(), secret: z.string() }),
      execute: ({ sku }, ctx) => {
        appendFileSync("ledger.txt", sku + " " + ctx.idempotencyKey + "\\n");
        return { sku, secret: process.env["TOOLWRIGHT_TEST_TOKEN"] ?? "none" };
      },
    }),
  ],
};
`;

function createProject(servers: object): string {
  return createFolder({
    "toolwright.config.ts": `export default { mcpServers: ${JSON.stringify(servers)} };`,
  });
}

const serverIn = (folder: string) => ({ command: process.execPath, args: [MAIN, "mcp"], cwd: folder });

it("lists the four tools, finds a server's tool and calls it once", async () => {
  const folder = createFolder({ "toolwright.config.ts": SERVER });
  const project = createProject({ shop: serverIn(folder) });
  const tools = await toolwright(project, ["tools", "--json"]);
  expect((tools.json() as { name: string }[]).map(({ name }) => name)).toEqual([
    "mcp_list_tools",
    "mcp_search",
    "mcp_info",
    "mcp_exec",
  ]);
  const found = await toolwright(project, ["mcp_search", "order", "--json"]);
  expect(found.json()).toMatchObject({ tools: [{ server: "shop", name: "place_order" }], unavailable: [] });
  const ran = await toolwright(
    project,
    ["mcp_exec", "shop", "place_order", "--args", '{"sku":"fig"}', "--json"],
    {
      env: { TOOLWRIGHT_TEST_TOKEN: "our own secret" },
    },
  );
  expect([ran.code, ran.json()]).toEqual([0, { sku: "fig", secret: "none" }]);
  expect(readFileSync(join(folder, "ledger.txt"), "utf8").trim().split("\n")).toHaveLength(1);
  const refused = await toolwright(project, [
    "mcp_exec",
    "shop",
    "place_order",
    "--args",
    '{"sku":7}',
    "--json",
  ]);
  expect(refused.code).not.toBe(0);
  expect(refused.json()).toMatchObject({ is_error: true, error_type: "input_invalid" });
});

it("a server that cannot start is named, and the others work", async () => {
  const folder = createFolder({ "toolwright.config.ts": SERVER });
  const project = createProject({ gone: { command: "no-such-program" }, shop: serverIn(folder) });
  const listed = await toolwright(project, ["mcp_list_tools", "--json"]);
  expect(listed.json()).toMatchObject({
    servers: [
      { server: "gone", tools: [], error: expect.stringContaining('"gone" cannot be reached') as string },
      { server: "shop", tools: [{ name: "place_order" }] },
    ],
  });
});

it.each([
  [{ shop: {} }, 'mcpServers.shop must have a "command" to start, or a "url" to connect to.'],
  [{ shop: { url: "nowhere" } }, "mcpServers.shop.url must be a URL."],
  [{ shop: 7 }, "mcpServers.shop must be an object"],
])("%o is refused with what is expected", async (servers, words) => {
  const { code, stderr } = await toolwright(createProject(servers), ["tools"]);
  expect([code, stderr]).toEqual([1, expect.stringContaining(words)]);
});
