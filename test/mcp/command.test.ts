/** The errors of `toolwright mcp` go to stderr, since stdout belongs to the protocol. */
import { expect, it } from "vitest";
import { createFolder, toolwright } from "../cli/command.ts";

it("says that a folder has no config, and what to write", async () => {
  const { code, stdout, stderr } = await toolwright(createFolder(), ["mcp"]);
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toMatch(/There is no toolwright\.config\.ts[^]*export default \{ tools/);
});

it.each(["export default 7;", 'throw new Error("no config today");', "export default { tools: [7] };"])(
  "says what is wrong with a config: %s",
  async (text) => {
    const folder = createFolder({ "toolwright.config.ts": `console.log("noise");\n${text}` });
    const { code, stdout, stderr } = await toolwright(folder, ["mcp"]);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain("toolwright.config.ts");
  },
);

it("says which package is missing", async () => {
  const hook = `
    import { registerHooks } from "node:module";
    registerHooks({ resolve: (name, context, next) => {
      if (!name.startsWith("@modelcontextprotocol/")) return next(name, context);
      throw Object.assign(new Error("Cannot find package '" + name + "'"), { code: "ERR_MODULE_NOT_FOUND" });
    } });`;
  const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(hook)}` };
  const { code, stdout, stderr } = await toolwright(createFolder(), ["mcp"], { env });
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toContain("npm install @modelcontextprotocol/server");
});
