/** The files of the page: found by name, cached by their content, and never outside their folder. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { StaticFiles } from "../../src/server/static-files.ts";
import { createFolder } from "../cli/command.ts";

const PAGE = '<!doctype html><base href="/" /><script type="module" src="app.js"></script>';

function createUi(): string {
  const folder = createFolder({ "secret.txt": "secret" });
  mkdirSync(join(folder, "ui"));
  writeFileSync(join(folder, "ui/index.html"), PAGE);
  writeFileSync(join(folder, "ui/app.js"), "render();");
  writeFileSync(join(folder, "ui/app.css"), "body {}");
  return join(folder, "ui");
}

function get(
  files: StaticFiles,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Response | undefined {
  return files.respond(new Request(`http://localhost${path}`, { headers }), path);
}

test("serves files with their type, and the page for its own views", async () => {
  const files = new StaticFiles("", createUi());
  expect(await get(files, "/")?.text()).toBe(PAGE);
  expect(get(files, "/app.js")?.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
  expect(get(files, "/app.css")?.headers.get("content-type")).toBe("text/css; charset=utf-8");
  const html = { accept: "text/html,*/*" };
  expect(await get(files, "/runs/order-17", html)?.text()).toBe(PAGE);
  expect(await get(files, "/runs/v1.2", html)?.text()).toBe(PAGE);
  expect(await get(files, "/runs/report.json", html)?.text()).toBe(PAGE);
  expect(get(files, "/missing.js", html)).toBeUndefined();
  expect(get(files, "/runs/order-17")).toBeUndefined();
});

test("answers 304 to a client that has the file", async () => {
  const files = new StaticFiles("", createUi());
  const etag = get(files, "/app.js")?.headers.get("etag") ?? "";
  expect(get(files, "/app.js", { "if-none-match": `"other", ${etag}` })?.status).toBe(304);
  expect(get(files, "/app.js", { "if-none-match": '"other"' })?.status).toBe(200);
});

test("the base of the page is where the handler is mounted", async () => {
  const files = new StaticFiles("/ops", createUi());
  expect(await get(files, "/")?.text()).toContain('<base href="/ops/"');
});

test.each(["/../secret.txt", "/..%2fsecret.txt", "/ui/../../secret.txt", "/__proto__", "/constructor"])(
  "%s is not found",
  (path) => {
    expect(get(new StaticFiles("", createUi()), path)).toBeUndefined();
  },
);

test("without a build, / says how to build the page, and finds it once it is there", async () => {
  const folder = createFolder();
  const files = new StaticFiles("", folder);
  expect(get(files, "/")?.status).toBe(503);
  expect(await get(files, "/")?.text()).toContain("npm run build");
  writeFileSync(join(folder, "index.html"), PAGE);
  expect(get(files, "/")?.status).toBe(200);
});
