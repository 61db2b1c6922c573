/** The bundled code in `dist`. See docs/decisions/0032-the-package-is-bundled.md. */
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { describe, expect, it, test } from "vitest";
import { isTooNew } from "../oldest-node.ts";

const DIST = resolve(import.meta.dirname, "../../dist");

/** The files and packages in the order in which Node runs them. */
function evaluationOrder(file: string): string[] {
  const ended: string[] = [];
  const started = new Set<string>();
  const visit = (path: string): void => {
    if (started.has(path)) return;
    started.add(path);
    if (path.startsWith("/"))
      for (const [, from = ""] of readFileSync(path, "utf8").matchAll(
        /^import (?:[^"';]* from )?"([^"]+)";$/gm,
      ))
        visit(from.startsWith(".") ? join(dirname(path), from) : from);
    ended.push(path);
  };
  visit(file);
  return ended;
}

describe("the guard of an optional package runs before the package", () => {
  it.each([
    ["effect.js", "effect", "effect"],
    ["otel/index.js", "opentelemetry", "@opentelemetry/api"],
    ["adapters/mcp/index.js", "mcp", "@modelcontextprotocol/server"],
    ["adapters/langchain/index.js", "langchain", "@langchain/core"],
    ["adapters/openai-agents/index.js", "openai-agents", "@openai/agents"],
  ])("in %s", (entry, guard, peer) => {
    const order = evaluationOrder(join(DIST, entry));
    const ofPeer = order.findIndex((path) => path === peer || path.startsWith(`${peer}/`));
    const ofGuard = order.indexOf(join(DIST, "load/peers", `${guard}.js`));
    expect(ofPeer).toBeGreaterThan(-1);
    expect(ofGuard).toBeGreaterThan(-1);
    expect(ofGuard).toBeLessThan(ofPeer);
  });
});

test("the package root is a few files, and needs no optional package", () => {
  const order = evaluationOrder(join(DIST, "index.js"));
  expect(order.filter((path) => path.startsWith("/")).length).toBeLessThan(12);
  expect(order.filter((path) => !path.startsWith("/") && !path.startsWith("node:"))).toEqual(["zod"]);
});

test("the command prints its version without Zod", () => {
  const [chunk = ""] =
    /"\.\.\/chunks\/program-[^"]+"/.exec(readFileSync(join(DIST, "cli/main.js"), "utf8")) ?? [];
  const file = join(DIST, "cli", JSON.parse(chunk) as string);
  expect(existsSync(file)).toBe(true);
  expect(evaluationOrder(file)).not.toContain("zod");
});

test("no code of an older build is left", () => {
  const used = new Set<string>();
  const entries = globSync(["*.js", "*/index.js", "adapters/*/index.js", "cli/main.js", "load/**/*.js"], {
    cwd: DIST,
  });
  const open = entries.map((file) => join(DIST, file));
  for (const file of open) {
    if (used.has(file)) continue;
    used.add(file);
    for (const [, from = ""] of readFileSync(file, "utf8").matchAll(/(?:from |import\(|import )"(\.[^"]+)"/g))
      open.push(join(dirname(file), from));
  }
  expect(globSync("chunks/*.js", { cwd: DIST }).filter((file) => !used.has(join(DIST, file)))).toEqual([]);
});

describe("the oldest Node that package.json names", () => {
  it("does not know every syntax of the source", () => {
    expect(isTooNew("export async function main() { await using runtime = open(); }")).toBe(true);
  });

  it("can parse every built file", () => {
    const files = globSync("**/*.js", { cwd: DIST, exclude: ["ui/**"] });
    expect(files.length).toBeGreaterThan(20);
    expect(files.filter((file) => isTooNew(readFileSync(join(DIST, file), "utf8")))).toEqual([]);
  });
});
