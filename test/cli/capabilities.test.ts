/** `toolwright capabilities`: the real command on a folder with a config. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createFolder, toolwright } from "./command.ts";

const CONFIG = `
import { defineTool } from "toolwright";
import { capabilitiesTools, contextTools } from "toolwright/tools";
import { z } from "zod";
console.log("loading");
const send = defineTool({ name: "mail_send", description: "Send mail.", group: "mail", schema: z.object({}), execute: () => null });
export default { tools: { ...contextTools, ...capabilitiesTools, send } };
`;

const FILE = ".toolwright/capabilities.md";

test("writes the inventory if there is none, then shows it, and rewrites it with --refresh", async () => {
  const folder = createFolder({ "toolwright.config.ts": CONFIG });
  const first = await toolwright(folder, ["capabilities"]);
  expect(first).toMatchObject({ code: 0, stderr: "" });
  expect(first.stdout).toContain("- **Mail**: Send mail\n");
  const written = readFileSync(join(folder, FILE), "utf8");
  expect(first.stdout).toBe(`loading\n${written}`);
  writeFileSync(join(folder, FILE), "---\nmine: yes\n---\nBy \u001b[31mhand.\n");
  expect(await toolwright(folder, ["capabilities"])).toMatchObject({
    code: 0,
    // The configuration, which prints "loading", does not run if the file exists.
    stdout: "By [31mhand.\n",
  });
  const refreshed = await toolwright(folder, ["capabilities", "--refresh", "--json"]);
  expect(refreshed.json()).toEqual({
    text: written.trim(),
    refreshed: { path: FILE, written_by: "fixed_summary", tools: 8, changed: true },
  });
  expect(readFileSync(join(folder, FILE), "utf8")).toBe(`---\nmine: yes\n---\n${written}`);
});

test("the config's model writes it; if the model fails, the file stays and the command fails", async () => {
  const folder = createFolder({
    "toolwright.config.ts": `export default { tools: [], rootDir: "root",
      model: { invoke: async () => { if (process.env.DOWN) throw new Error("the model is down"); return "- **All** — everything"; } } };`,
  });
  mkdirSync(join(folder, "root"));
  expect(await toolwright(folder, ["capabilities"])).toMatchObject({
    code: 0,
    stdout: "# Capabilities\n\n- **All** — everything\n",
  });
  const failed = await toolwright(folder, ["capabilities", "--refresh"], { env: { DOWN: "1" } });
  expect(failed).toMatchObject({ code: 1, stdout: "" });
  expect(failed.stderr).toContain(
    "The model failed, so .toolwright/capabilities.md was not changed: the model is down",
  );
  expect(readFileSync(join(folder, "root", FILE), "utf8")).toContain("everything");
});

test("says what to write if there is no config", async () => {
  const { code, stderr } = await toolwright(createFolder(), ["capabilities"]);
  expect(code).toBe(1);
  expect(stderr).toContain("There is no toolwright.config.ts in");
});
