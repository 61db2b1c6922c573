/** `test --json` and `mcp --json`: results for programs. */
import { expect, it } from "vitest";
import { createFolder, start, toolwright } from "./command.ts";

const TESTS = `
import { describe, test } from "node:test";
import assert from "node:assert";
console.log("noise");
describe("sums", () => {
  test("are right", () => assert.equal(1 + 1, 2));
  test("are wrong", () => assert.equal(1 + 1, 3, "not three"));
  test("come later", { skip: true }, () => undefined);
});
`;

it("test --json prints the result of each test, and no output of the tests", async () => {
  const folder = createFolder({ "a.test.ts": TESTS, "b.test.ts": `throw new Error("cannot load");` });
  const { code, json, stderr } = await toolwright(folder, ["test", "--json"]);
  expect(json()).toMatchObject({
    ok: false,
    passed: 1,
    failed: 2,
    skipped: 1,
    tests: [
      { name: "are right", status: "passed", error: null },
      { name: "are wrong", status: "failed", error: "not three" },
      { name: "come later", status: "skipped" },
      { name: expect.stringContaining("b.test.ts") as string, status: "failed" },
    ],
  });
  expect(code).toBe(1);
  expect(stderr).toContain("noise");
});

it("test --json succeeds if the tests do, and refuses missing files", async () => {
  const folder = createFolder({ "a.test.ts": `import { test } from "node:test"; test("ok", () => {});` });
  const passed = await toolwright(folder, ["test", "a.test.ts", "--json"]);
  expect(passed).toMatchObject({ code: 0 });
  expect(passed.json()).toMatchObject({ ok: true, passed: 1, failed: 0 });
  const missing = await toolwright(folder, ["test", "gone.test.ts", "--json"]);
  expect(missing).toMatchObject({ code: 1 });
  expect(missing.json()).toMatchObject({ error: { code: "CLI_FILE_MISSING" } });
});

it("mcp --http --json prints its address and a new token on stdout", async () => {
  const folder = createFolder({
    "toolwright.config.ts": `console.log("noise"); export default { tools: [] };`,
  });
  const served = start(folder, ["mcp", "--http", "--json"]);
  await served.saying("}");
  served.child.kill("SIGTERM");
  expect((await served.ended).json()).toEqual({
    url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/) as string,
    token: expect.stringMatching(/^\S{20,}$/) as string,
    tools: 0,
  });
  const refused = await toolwright(createFolder(), ["mcp", "--http", "--json"]);
  expect(refused.json()).toMatchObject({ error: { code: "CLI_CONFIG_MISSING" } });
});
