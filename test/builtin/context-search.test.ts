/** Items are found by their words: the same ones on every store, for any query. */
import { contextTools } from "toolwright/tools";
import { describe, expect, it } from "vitest";
import { openStore } from "../../src/store/open-store.ts";
import { searchWords } from "../../src/store/context/search.ts";
import { hasNewChunks, indexNewChunks } from "../../src/store/context/word-index.ts";
import { writeItem } from "../../src/store/context/items.ts";
import { queryWords } from "../../src/store/context/words.ts";
import { chunkText } from "../../src/builtin/context/chunk-text.ts";
import { STORE_KINDS } from "../store-kinds.ts";
import { type ContextWorld, createContextWorld } from "./context-harness.ts";

const { context_write, context_search, search_semantic } = contextTools;

const ITEMS = {
  "notes:/meetings/monday.md": "Quarterly revenue grew.\nThe café was closed; we met at Zoë's.\n",
  "notes:/meetings/tuesday.md": "Revenue fell.\nQuarterly numbers were late.\n",
  "notes:/recipes/soup.md": "Leeks, potatoes and place_order(42).\n",
  "code:/src/main.ts": "export function placeOrder(sku: string) { return deployed; }\n",
  "notes:/日本語.md": "東京で会いましょう。Москва и Αθήνα.\n",
};

async function fill({ ok }: ContextWorld): Promise<void> {
  for (const [name, content] of Object.entries(ITEMS)) {
    const [drive = "", path = ""] = name.split(":");
    await ok(context_write, { drive, path, content });
  }
}

describe.each(STORE_KINDS)("on $name", (kind) => {
  it("finds items by words, prefixes and names, ignoring case and accents", async () => {
    const world = await createContextWorld(kind);
    await fill(world);
    const find = async (query: string, more: { drive?: string; path?: string } = {}): Promise<string[]> => {
      const { results, method } = await world.ok(context_search, { query, ...more });
      expect(method).toBe("full_text");
      return results.map(({ drive, path }) => `${drive}:${path}`).sort();
    };
    const monday = "notes:/meetings/monday.md";
    const tuesday = "notes:/meetings/tuesday.md";
    expect(await find("quarterly revenue")).toEqual([monday, tuesday]);
    expect(await find("GREW")).toEqual([monday]);
    expect(await find("cafe zoe")).toEqual([monday]);
    expect(await find("caf\u00e9")).toEqual([monday]);
    expect(await find("deploy")).toEqual(["code:/src/main.ts"]);
    expect(await find("place order")).toEqual(["code:/src/main.ts", "notes:/recipes/soup.md"]);
    expect(await find("main.ts")).toEqual(["code:/src/main.ts"]);
    expect(await find("京")).toEqual(["notes:/日本語.md"]);
    expect(await find("москва ΑΘΗΝΑ")).toEqual(["notes:/日本語.md"]);
    expect(await find("revenue", { drive: "code" })).toEqual([]);
    expect(await find("revenue", { path: "/meetings" })).toEqual([monday, tuesday]);
    expect(await find("revenue", { path: "/meet" })).toEqual([]);
    expect(await find("revenue", { drive: "notes", path: "/meetings/monday.md" })).toEqual([monday]);
    // Short words match as a whole.
    expect(await find("42")).toEqual(["notes:/recipes/soup.md"]);
    expect(await find("4")).toEqual([]);
  });

  it("items with all of the words come before items with some of them", async () => {
    const world = await createContextWorld(kind);
    await fill(world);
    const { results } = await world.ok(context_search, { query: "potatoes revenue grew" });
    expect(results.map(({ path }) => path)).toHaveLength(3);
    const { results: all } = await world.ok(context_search, { query: "revenue fell numbers" });
    expect(all[0]?.path).toBe("/meetings/tuesday.md");
    const { results: one } = await world.ok(context_search, { query: "revenue fell numbers", limit: 1 });
    expect(one).toHaveLength(1);
  });

  it("no query causes a database error", async () => {
    const world = await createContextWorld(kind);
    await fill(world);
    for (const query of [
      '"',
      "'",
      "\\",
      '"unbalanced',
      "a AND",
      "NOT NEAR(",
      "words:revenue",
      "-revenue",
      "^revenue*",
      "revenue:*",
      "a & | ! <-> b",
      "';DROP TABLE toolwright_context_items;--",
      "\u0000revenue",
      "\ud800 revenue",
      "()[]{}+*?.,;:",
      "%_%",
      "$1 ?1 {now}",
      "😀",
      "\u0301\u0301",
      "x".repeat(2_000),
      "ﷺ½①ﬁ",
      Array.from({ length: 300 }, (_, index) => `w${index}`).join(" "),
    ]) {
      for (const tool of [context_search, search_semantic]) {
        const outcome = await world.runtime.call(tool, { query });
        expect([query, outcome.status]).toEqual([query, "success"]);
      }
    }
    expect(await world.ok(context_search, { query: "words:revenue" })).toMatchObject({
      results: [{ path: "/meetings/tuesday.md" }, { path: "/meetings/monday.md" }],
    });
  });

  it("hits are bounded: a snippet around the words, and the line it is on", async () => {
    const world = await createContextWorld(kind);
    const filler = "nothing to see here, go on. ".repeat(30);
    const content = `${`${filler}\n`.repeat(20)}and there the 😀 needle lies\n${filler}`;
    await world.ok(context_write, { drive: "n", path: "/long", content });
    for (let index = 0; index < 12; index += 1) {
      await world.ok(context_write, { drive: "n", path: `/${index}`, content: "a needle" });
    }
    const { results } = await world.ok(context_search, { query: "needle", drive: "n", path: "/long" });
    expect(results).toEqual([
      { drive: "n", path: "/long", line: 21, snippet: expect.stringContaining("there the 😀 needle lies") },
    ]);
    expect(results[0]?.snippet.length).toBeLessThanOrEqual(302);
    expect((await world.ok(context_search, { query: "needle" })).results).toHaveLength(10);
    expect((await world.ok(context_search, { query: "needle", limit: 50 })).results).toHaveLength(13);
  });

  it("search_semantic without a model searches by words, and reports it", async () => {
    const world = await createContextWorld(kind);
    await fill(world);
    expect(await world.ok(search_semantic, { query: "quarterly revenue" })).toMatchObject({
      method: "full_text",
      results: [{ drive: "notes" }, { drive: "notes" }],
    });
    expect(await world.ok(search_semantic, { query: "nowhere" })).toEqual({
      method: "full_text",
      results: [],
      note: "Nothing was found. Try other words, or context_tree.",
    });
  });
});

it("a SQLite without FTS5 finds the same items by scanning, and the next SQLite with FTS5 indexes the new items", async () => {
  const fresh = await STORE_KINDS[0].fresh();
  const store = await openStore(fresh.address);
  const place = { drive: undefined, path: "/" };
  const find = async (index: "scan" | "fts5", query: string): Promise<string[]> =>
    (await store.read(() => searchWords(index, queryWords(query), place, 10))).map(({ path }) => path);
  const write = (path: string, content: string, index: "scan" | "fts5") =>
    store.transaction(
      () =>
        writeItem(index, {
          drive: "n",
          path,
          content,
          bytes: content.length,
          sha256: content,
          source: null,
          chunks: chunkText(path, content),
          replace: true,
          key: undefined,
          nowMs: 1,
        }),
      "normal",
    );
  try {
    await write("/a", "old words", "scan");
    await write("/b", "red apples", "scan");
    expect(await find("scan", "red apple")).toEqual(["/b"]);
    expect(await find("scan", "words apples")).toEqual(["/a", "/b"]);
    expect(await find("scan", "ed")).toEqual([]);
    expect(await store.read(() => hasNewChunks("fts5"))).toBe(true);
    await store.transaction(() => indexNewChunks("fts5"), "normal");
    expect(await store.read(() => hasNewChunks("fts5"))).toBe(false);
    expect(await find("fts5", "old")).toEqual(["/a"]);
    // Changed without the index: the old words are still gone.
    await write("/a", "new letters", "scan");
    expect(await find("fts5", "old")).toEqual([]);
    await write("/c", "more", "fts5");
    expect(await find("fts5", "letters")).toEqual(["/a"]);
  } finally {
    await store.close();
    await fresh[Symbol.asyncDispose]();
  }
});
