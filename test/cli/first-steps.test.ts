/** First steps that go wrong on the command line: each answer names the command to type. */
import { expect, it } from "vitest";
import { createFolder, toolwright } from "./command.ts";
import { GREETING } from "./workflows.ts";

const TOOL = `
import { defineTool } from "toolwright";
import { z } from "zod";
export default { tools: [defineTool({ name: "list", schema: z.object({}), execute: () => "my own list" })] };
`;

it.each([
  [["run", "w.tsx"], /Did you mean: .* up$/],
  [["w.tsx"], /Did you mean: .* up w\.tsx$/],
  [["ls"], /Did you mean: .* ps$/],
  [["list"], /Did you mean: .* ps$/],
  [["logs", "r"], /Did you mean: .* calls$/],
  [["help", "start"], /Did you mean: .* up$/],
  [["reject", "r"], /Did you mean: .* deny$/],
  [["--store", "app.db", "ps"], /Write --store after the command, for example: .* --store …$/],
  [["up"], /missing required argument 'file'/],
  [["up", "w.tsx", "--input", "name=Bo"], /not valid JSON[^]*JSON in single quotes, @file/],
  [["up", "w.tsx", "--input", '{"nam":"Bo"}'], /does not match the workflow's input schema[^]*name/],
  [["up", "w.tsx", "--inputs", "{}"], /Did you mean --input\?/],
  [["up", "missing.tsx"], /There is no file .*missing\.tsx[^]*Create an example: .* init example$/],
  [["up", "tool.ts"], /has no default export that is a workflow[^]*export default workflow\(/],
  [["resume", "r"], /There is no store|There is no run "r"/],
  [["mcp"], /There is no toolwright\.config\.ts[^]*export default \{ tools: \[/],
  [["init", "--template", "shop"], /Allowed choices are tool, agent, chat, workflow, mcp/],
  [["init", "--template", "agnt"], /Did you mean agent\?$/],
])("%j", async (args, says) => {
  const folder = createFolder({ "w.tsx": GREETING, "tool.ts": "export const tool = 1;" });
  const { code, stderr } = await toolwright(folder, args);
  expect(code).toBe(1);
  expect(stderr.trimEnd()).toMatch(says);
});

it("a tool of the project may have the name that another program gives to a command", async () => {
  const folder = createFolder({ "toolwright.config.ts": TOOL });
  expect(await toolwright(folder, ["list"])).toMatchObject({ code: 0, stdout: "my own list\n" });
});
