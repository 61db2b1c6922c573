/** Items are found by meaning if a model is configured, and stay findable if it fails or changes. */
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { MockEmbeddingModelV4 } from "ai/test";
import { createRuntime } from "toolwright";
import { contextTools } from "toolwright/tools";
import { describe, expect, it, onTestFinished } from "vitest";
import { STORE_KINDS } from "../store-kinds.ts";
import { rowsOf } from "../workflow/harness.ts";
import { createContextWorld, createEmbeddingModel } from "./context-harness.ts";

const { context_write, context_search, context_refresh, context_read, search_semantic } = contextTools;

describe.each(STORE_KINDS)("on $name", (kind) => {
  it("search_semantic finds items with the same meaning, and reports that it used embeddings", async () => {
    const model = createEmbeddingModel();
    const { ok } = await createContextWorld(kind, { embeddingModel: model });
    expect(
      await ok(context_write, { drive: "n", path: "/a", content: "my automobile is red" }),
    ).toMatchObject({ embedded: true });
    await ok(context_write, { drive: "n", path: "/b", content: "an apple a day" });
    await ok(context_write, { drive: "other", path: "/c", content: "vehicle income" });
    const { method, results } = await ok(search_semantic, { query: "car" });
    expect(method).toBe("embedding");
    expect(results.map(({ path }) => path)).toEqual(["/a", "/c", "/b"]);
    expect(results[0]).toEqual({
      drive: "n",
      path: "/a",
      line: 1,
      snippet: "my automobile is red",
      similarity: 1,
    });
    expect((await ok(search_semantic, { query: "car", drive: "other" })).results).toHaveLength(1);
    expect((await ok(search_semantic, { query: "car", limit: 1 })).results).toHaveLength(1);
  });

  it("context_search combines both methods, and reports which one found each item", async () => {
    const { ok } = await createContextWorld(kind, { embeddingModel: createEmbeddingModel() });
    await ok(context_write, { drive: "n", path: "/car", content: "a car" });
    await ok(context_write, { drive: "n", path: "/vehicle", content: "a vehicle" });
    const { method, results } = await ok(context_search, { query: "car" });
    expect(method).toBe("full_text_and_embedding");
    expect(results.map(({ path, matched_by }) => [path, matched_by])).toEqual([
      ["/car", ["words", "meaning"]],
      ["/vehicle", ["meaning"]],
    ]);
  });

  it("vectors are stored with model and dimensions; only changed text is embedded again", async () => {
    const model = createEmbeddingModel();
    const { ok, address, open } = await createContextWorld(kind, { embeddingModel: model });
    await ok(context_write, { drive: "n", path: "/a", content: "a car" });
    await ok(context_write, { drive: "n", path: "/b", content: "a pear" });
    expect(await rowsOf(address, "SELECT model, dimensions FROM toolwright_context_embeddings")).toEqual([
      { model: "fake/fake-1", dimensions: 4 },
      { model: "fake/fake-1", dimensions: 4 },
    ]);
    model.requests.length = 0;
    await ok(context_write, { drive: "n", path: "/a", content: "an apple", on_conflict: "overwrite" });
    expect(model.requests).toEqual([["an apple"]]);
    expect((await ok(search_semantic, { query: "car" })).results[0]?.similarity).toBeLessThan(0.5);
    const other = createEmbeddingModel("fake-2");
    const runtime = open({ embeddingModel: other });
    expect(await ok(search_semantic, { query: "fruit" }, runtime)).toMatchObject({
      method: "embedding",
      results: [],
      note: expect.stringContaining("2 of the items are not embedded by this model yet"),
    });
    expect(await ok(context_refresh, {}, runtime)).toMatchObject({ embedded_parts: 2 });
    expect(other.requests.flat()).toEqual(["fruit", "a pear", "an apple"]);
    expect(await ok(context_refresh, {}, runtime)).toMatchObject({ embedded_parts: 0 });
    expect((await ok(search_semantic, { query: "fruit" }, runtime)).results).toHaveLength(2);
  });

  it("a model that is down affects neither writes nor searches", async () => {
    const model = createEmbeddingModel();
    model.isDown = true;
    const { ok, failed } = await createContextWorld(kind, { embeddingModel: model });
    const written = await ok(context_write, { drive: "n", path: "/a", content: "a car" });
    expect(written).toMatchObject({ version: 1, embedded: false });
    expect(written.note).toContain("the embedding model failed: the model is down");
    for (const tool of [search_semantic, context_search]) {
      expect(await ok(tool, { query: "car" })).toMatchObject({
        method: "full_text",
        results: [{ path: "/a" }],
        note: "The embedding model failed, so the search was by words only: the model is down.",
      });
    }
    expect(await failed(context_refresh, {})).toMatchObject({
      code: "TOOL_EXECUTION_FAILED",
      message: "The embedding model failed: the model is down.",
    });
    model.isDown = false;
    expect(await ok(context_refresh, {})).toMatchObject({ embedded_parts: 1 });
    expect(await ok(search_semantic, { query: "vehicle" })).toMatchObject({ results: [{ path: "/a" }] });
  });

  it("long items are embedded in parts, in batches that the model accepts", async () => {
    const model = createEmbeddingModel();
    const { ok } = await createContextWorld(kind, { embeddingModel: model });
    const filler = `${"word ".repeat(300)}\n\n`;
    await ok(context_write, {
      drive: "n",
      path: "/long",
      content: `${filler.repeat(8)}the car\n\n${filler.repeat(3)}`,
    });
    expect(model.requests.every(({ length }) => length <= 3)).toBe(true);
    expect(model.requests.flat().length).toBeGreaterThan(8);
    const { results } = await ok(search_semantic, { query: "vehicle" });
    expect(results).toHaveLength(1);
    expect(results[0]?.line).toBeGreaterThan(10);
  });
});

describe.each([
  ["too few vectors", []],
  ["no vectors", undefined],
  ["text", [["a", "b"]]],
  ["what is not finite", [[Number.NaN, 1]]],
  ["an empty vector", [[]]],
])("a model that returns %s", (_, embeddings) => {
  it("is reported as failed", async () => {
    const doEmbed = async () => ({ embeddings: embeddings as number[][] });
    const { ok } = await createContextWorld(STORE_KINDS[0], {
      embeddingModel: { provider: "odd", modelId: "odd", doEmbed },
    });
    const { note } = await ok(context_write, { drive: "n", path: "/a", content: "a" });
    expect(note).toContain("the embedding model failed: it");
  });
});

it("accepts an AI SDK model unchanged, and refuses anything else", async () => {
  const model = new MockEmbeddingModelV4({
    doEmbed: async ({ values }) => ({ embeddings: values.map(() => [1, 0]), warnings: [] }),
  });
  const { ok } = await createContextWorld(STORE_KINDS[0], { embeddingModel: model });
  await ok(context_write, { drive: "n", path: "/a", content: "a" });
  expect((await ok(search_semantic, { query: "b" })).method).toBe("embedding");
  expect(() => createRuntime({ embeddingModel: {} as never })).toThrow(
    "createRuntime: embeddingModel must be an AI SDK embedding model",
  );
});

it("context_refresh reads files and pages again, and reports items that could not be read", async () => {
  const server = createServer((request, response) => {
    response.statusCode = request.url === "/page" ? 200 : 500;
    response.end(request.url === "/big" ? "x".repeat(2_000_000) : "the new page");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as { port: number };
  const url = `http://127.0.0.1:${port}`;
  const { ok, root, open } = await createContextWorld(STORE_KINDS[0]);
  writeFileSync(join(root, "a.md"), "the new file");
  const write = (path: string, source: string) =>
    ok(context_write, { drive: "n", path, content: "old", source });
  await write("/file", "a.md");
  await write("/page", `${url}/page`);
  await write("/broken", `${url}/broken`);
  await write("/outside", "../../etc/passwd");
  await ok(context_write, { drive: "n", path: "/none", content: "kept" });
  expect(await ok(context_refresh, { drive: "n" })).toEqual({
    updated: 1,
    unchanged: 0,
    failed: 3,
    failures: [
      { item: "n:/page", reason: "the network is off (allowNetwork)" },
      { item: "n:/broken", reason: "the network is off (allowNetwork)" },
      { item: "n:/outside", reason: expect.stringContaining("leads out of the sandbox root") },
    ],
    embedded_parts: 0,
    note: "No embedding model is configured.",
  });
  const online = open({ allowNetwork: true });
  expect(await ok(context_refresh, {}, online)).toMatchObject({
    updated: 1,
    unchanged: 1,
    failures: [{ reason: "the server answered 500" }, { item: "n:/outside" }],
  });
  expect(await ok(context_read, { drive: "n", path: "/file" })).toMatchObject({
    content: "the new file",
    version: 2,
  });
  expect(await ok(context_read, { drive: "n", path: "/page" })).toMatchObject({ content: "the new page" });
  expect(await ok(context_read, { drive: "n", path: "/none" })).toMatchObject({
    content: "kept",
    version: 1,
  });
});

it("a source with a password is refused, since it would be stored", async () => {
  const { failed } = await createContextWorld(STORE_KINDS[0]);
  const source = "https://ann:secret@example.com/";
  const error = await failed(context_write, { drive: "n", path: "/a", content: "", source });
  expect(error).toMatchObject({ code: "TOOL_PATH_INVALID", effect: "none" });
  expect(error.message).not.toContain("secret");
});
