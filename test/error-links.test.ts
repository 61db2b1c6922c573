/** Every error of the library leads to its description: as a field, when it is printed, and on the command line. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { ERROR_CODES, ToolwrightError } from "../src/index.ts";
import { canonicalText } from "../src/util/canonical.ts";
import { createFolder, toolwright } from "./cli/command.ts";

const ROOT = resolve(import.meta.dirname, "..");

test("the link of every code leads to a page of the package that describes it", () => {
  const codes = Object.keys(ERROR_CODES);
  const links = codes.map((code) => new URL(new ToolwrightError(code, "m").docs ?? ""));
  expect(links.map(({ hash }) => hash)).toEqual(codes.map((code) => `#${code.toLowerCase()}`));
  const pages = new Set(links.map(({ pathname }) => pathname.replace("/toolwright/", "")));
  expect(pages.size).toBe(1);
  const [page = ""] = pages;
  expect(existsSync(resolve(ROOT, page)), `src/errors.ts links to ${page}`).toBe(true);
  const text = readFileSync(resolve(ROOT, page), "utf8");
  expect(codes.filter((code) => !text.includes(`\`${code}\``))).toEqual([]);
});

test("a tool's own code has no link", () => {
  expect(new ToolwrightError("SHOP_CLOSED", "m").docs).toBeUndefined();
});

test("the link changes neither what a model reads nor the key of a call with the error", () => {
  const error = new ToolwrightError("TOOL_INPUT_INVALID", "m");
  expect(JSON.stringify([error.toModel(), error, canonicalText(error)])).not.toContain("http");
});

test("an error that ends a program is printed with its code, hint and link", () => {
  const program = `
    import { defineTool } from ${JSON.stringify(resolve(ROOT, "src/index.ts"))};
    defineTool({ name: "pay", needsAproval: true });
  `;
  const { stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", program], {
    encoding: "utf8",
  });
  expect(stderr).toContain('unknown option "needsAproval". Did you mean "needsApproval"?');
  expect(stderr).toMatch(/hint: 'Fix the definition/);
  expect(stderr).toMatch(/https:\/\/\S+#tool_definition_invalid'/);
});

test("the command line prints the link, and --json contains it", async () => {
  const folder = createFolder();
  const shown = await toolwright(folder, ["cancel", "none", "--store", ":memory:"]);
  expect(shown.stderr).toMatch(/\n {2}https:\/\/\S+#tool_run_not_found\n$/);
  const json = await toolwright(folder, ["cancel", "none", "--store", ":memory:", "--json"]);
  expect(json.json()).toMatchObject({
    error: { code: "TOOL_RUN_NOT_FOUND", docs: expect.stringMatching(/#tool_run_not_found$/) as string },
  });
  const usage = await toolwright(folder, ["up", "--json"]);
  expect((usage.json() as { error: object }).error).not.toHaveProperty("docs");
});
