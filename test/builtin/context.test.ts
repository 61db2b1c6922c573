/** Context items: written once, read in pages, listed as a tree, and refused if their name is invalid. */
import { rowsOf } from "../workflow/harness.ts";
import { createFakeClock } from "toolwright/testing";
import { contextTools } from "toolwright/tools";
import { describe, expect, it } from "vitest";
import { specOf } from "../../src/tool/create-callable.ts";
import { STORE_KINDS } from "../store-kinds.ts";
import { createContextWorld } from "./context-harness.ts";

const { context_write, context_read, context_tree, context_search } = contextTools;

describe.each(STORE_KINDS)("on $name", (kind) => {
  it("writes an item and reads it back", async () => {
    const { ok } = await createContextWorld(kind);
    const written = await ok(context_write, { drive: "notes", path: "/a/b.md", content: "one\ntwo\n" });
    expect(written).toEqual({
      drive: "notes",
      path: "/a/b.md",
      version: 1,
      created: true,
      changed: true,
      bytes: 8,
      embedded: false,
    });
    expect(await ok(context_read, { drive: "notes", path: "a//./b.md/" })).toEqual({
      drive: "notes",
      path: "/a/b.md",
      version: 1,
      total_lines: 2,
      content: "one\ntwo\n",
      next_offset: null,
      next_column: 0,
    });
  });

  it("a collision is a path_conflict whose hint names both fixes, and changes nothing", async () => {
    const { ok, failed } = await createContextWorld(kind);
    await ok(context_write, { drive: "notes", path: "/a", content: "first" });
    const error = await failed(context_write, { drive: "notes", path: "/a", content: "second" });
    expect(error.toModel()).toEqual({
      is_error: true,
      error_type: "path_conflict",
      message: "There is an item at notes:/a already (version 1). Nothing was written.",
      next_action_hint: expect.stringMatching(/context_read.*on_conflict='overwrite'/),
    });
    expect(error.effect).toBe("none");
    expect(await ok(context_read, { drive: "notes", path: "/a" })).toMatchObject({ content: "first" });
  });

  it("overwrites on request: a new version for new content, none for the same", async () => {
    const { ok } = await createContextWorld(kind);
    const write = (content: string) =>
      ok(context_write, { drive: "notes", path: "/a", content, on_conflict: "overwrite" });
    expect(await write("one")).toMatchObject({ version: 1, created: true });
    expect(await write("two")).toMatchObject({ version: 2, created: false, changed: true });
    expect(await write("two")).toMatchObject({ version: 2, created: false, changed: false });
    expect(await ok(context_read, { drive: "notes", path: "/a" })).toMatchObject({ content: "two" });
    // The old text is no longer found.
    expect(await ok(context_search, { query: "one" })).toMatchObject({ results: [] });
    expect(await ok(context_search, { query: "two" })).toMatchObject({ results: [{ path: "/a" }] });
  });

  it("of many concurrent writes of the same new item, one wins", async () => {
    const { open } = await createContextWorld(kind);
    const [one, other] = [open(), open()];
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (index % 2 === 0 ? one : other).call(context_write, {
          drive: "n",
          path: "/x",
          content: `by ${index}`,
        }),
      ),
    );
    const statuses = outcomes.map((outcome) =>
      outcome.status === "error" ? outcome.error.code : outcome.status,
    );
    expect(statuses.filter((status) => status === "success")).toHaveLength(1);
    expect(statuses.filter((status) => status === "TOOL_PATH_CONFLICT")).toHaveLength(19);
  });

  it("many concurrent overwrites of one item increase its version one by one", async () => {
    const { open, ok } = await createContextWorld(kind);
    const [one, other] = [open(), open()];
    await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (index % 2 === 0 ? one : other).call(context_write, {
          drive: "n",
          path: "/x",
          content: `word${index}`,
          on_conflict: "overwrite",
        }),
      ),
    );
    const { version, content } = await ok(context_read, { drive: "n", path: "/x" });
    expect(version).toBe(20);
    expect(await ok(context_search, { query: content })).toMatchObject({ results: [{ path: "/x" }] });
  });

  it("an equal call in a later attempt writes nothing, although another call has written since", async () => {
    const { runtime, ok } = await createContextWorld(kind);
    const item = { drive: "n", path: "/x", content: "mine", on_conflict: "overwrite" } as const;
    await runtime.call(context_write, item, { runId: "r", attempt: 1 });
    await ok(context_write, { ...item, content: "theirs" });
    const again = await runtime.call(context_write, item, { runId: "r", attempt: 2 });
    expect(again).toMatchObject({ status: "success", replayed: true, output: { version: 1 } });
    expect(await ok(context_read, { drive: "n", path: "/x" })).toMatchObject({
      content: "theirs",
      version: 2,
    });
  });

  it("the log shows the size of the content, not the content", async () => {
    const { runtime, address } = await createContextWorld(kind);
    await runtime.call(context_write, { drive: "n", path: "/x", content: "a secret" }, { runId: "r" });
    const [call] = await runtime.calls({ runId: "r" });
    expect(JSON.parse(call?.inputJson ?? "")).toEqual({
      drive: "n",
      path: "/x",
      on_conflict: "error",
      bytes: 8,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    const rows = await rowsOf(address, "SELECT * FROM toolwright_calls");
    expect(JSON.stringify(rows)).not.toContain("secret");
  });

  it("refuses content that is too large, or that no store can hold", async () => {
    const { ok, failed } = await createContextWorld(kind);
    const most = "ä".repeat(524_288);
    expect(await ok(context_write, { drive: "n", path: "/most", content: most })).toMatchObject({
      bytes: 1_048_576,
    });
    const large = await failed(context_write, { drive: "n", path: "/more", content: `${most}a` });
    expect(large).toMatchObject({ code: "TOOL_CONTENT_TOO_LARGE", effect: "none" });
    expect(large.message).toContain("1048577 bytes, an item has at most 1048576");
    expect(await failed(context_write, { drive: "n", path: "/a", content: "a\u0000" })).toMatchObject({
      code: "TOOL_INPUT_INVALID",
    });
  });

  it("reports a missing item, with where to look", async () => {
    const { failed } = await createContextWorld(kind);
    expect((await failed(context_read, { drive: "n", path: "/no" })).toModel()).toMatchObject({
      error_type: "context_not_found",
      next_action_hint: "Look for it with context_tree or context_search.",
    });
  });

  it("lists a tree to the requested depth, in the same order on every store", async () => {
    const { ok } = await createContextWorld(kind);
    for (const path of ["/b", "/a/x", "/a/deep/er/1", "/a/deep/er/2", "/a-b/y", "/Z", "/ä", "/a/deep0"]) {
      await ok(context_write, { drive: "n", path, content: "." });
    }
    await ok(context_write, { drive: "other", path: "/o", content: "." });
    expect(await ok(context_tree, { drive: "n", max_depth: 2 })).toEqual({
      drive: "n",
      path: "/",
      truncated: false,
      entries: [
        { path: "/Z", type: "item", bytes: 1 },
        { path: "/a-b/", type: "folder" },
        { path: "/a-b/y", type: "item", bytes: 1 },
        { path: "/a/", type: "folder" },
        { path: "/a/deep/", type: "folder" },
        { path: "/a/deep0", type: "item", bytes: 1 },
        { path: "/a/x", type: "item", bytes: 1 },
        { path: "/b", type: "item", bytes: 1 },
        { path: "/ä", type: "item", bytes: 1 },
      ],
    });
    expect(await ok(context_tree, { drive: "n", path: "/a/deep" })).toMatchObject({
      entries: [
        { path: "/a/deep/er/", type: "folder" },
        { path: "/a/deep/er/1", type: "item" },
        { path: "/a/deep/er/2", type: "item" },
      ],
    });
    expect(await ok(context_tree, {})).toEqual({
      drives: [
        { drive: "n", items: 8 },
        { drive: "other", items: 1 },
      ],
      truncated: false,
    });
  });

  it("refuses to list a folder without its drive, rather than list the drives", async () => {
    const { ok, failed } = await createContextWorld(kind);
    await ok(context_write, { drive: "n", path: "/a/x", content: "." });
    for (const path of ["/a", "n:/a"]) {
      expect((await failed(context_tree, { path })).toModel()).toMatchObject({
        message: `The path "${path}" is given without its drive.`,
        next_action_hint: "Name the drive too, or omit the path to list the drives.",
      });
    }
    expect(await ok(context_tree, { path: "/" })).toMatchObject({ drives: [{ drive: "n" }] });
  });

  it("reports a tree that is too large to list completely", async () => {
    const { runtime, ok } = await createContextWorld(kind);
    await Promise.all(
      Array.from({ length: 501 }, (_, index) =>
        runtime.call(context_write, { drive: "n", path: `/${index}`, content: "." }),
      ),
    );
    const { entries, truncated } = (await ok(context_tree, { drive: "n" })) as {
      entries: unknown[];
      truncated: boolean;
    };
    expect({ count: entries.length, truncated }).toEqual({ count: 500, truncated: true });
  });

  it("items of a run stay after retention deletes the run", async () => {
    const clock = createFakeClock();
    const { runtime, ok, address } = await createContextWorld(kind, { clock });
    await runtime.call(context_write, { drive: "n", path: "/x", content: "kept" }, { runId: "old" });
    expect(await rowsOf(address, "SELECT key FROM toolwright_context_writes")).toHaveLength(1);
    await clock.advance(1);
    expect(await runtime.gc({ olderThanMs: 0 })).toMatchObject({ deletedRuns: 1 });
    expect(await rowsOf(address, "SELECT key FROM toolwright_context_writes")).toEqual([]);
    expect(await ok(context_read, { drive: "n", path: "/x" })).toMatchObject({ content: "kept" });
  });
});

it.each([
  ["..", { path: "/a/../b" }, 'contains ".."'],
  ["a control character", { path: "/a\u0007b" }, "contains a control character"],
  ["U+0000", { path: "/a\u0000b" }, "contains a control character"],
  ["half a surrogate pair", { path: "/a\ud800" }, "contains a lone surrogate"],
  ["the root", { path: "/" }, "names the whole drive"],
  ["nothing", { path: "" }, "names the whole drive"],
  ["too long a name", { path: `/${"a".repeat(256)}` }, "a name longer than 255 bytes"],
  ["too long a path", { path: "/abc".repeat(400) }, "is over 1024 bytes long"],
  ["a drive with a slash", { drive: "a/b" }, "must be 1 to 64 of"],
  ["a drive with a colon", { drive: "a:b" }, "must be 1 to 64 of"],
  ["no drive", { drive: "" }, "must be 1 to 64 of"],
  ["a drive that is too long", { drive: "a".repeat(65) }, "must be 1 to 64 of"],
])("refuses %s", async (_, wrong, words) => {
  const { failed } = await createContextWorld(STORE_KINDS[0]);
  const error = await failed(context_write, { drive: "n", path: "/a", content: "", ...wrong });
  expect(error).toMatchObject({ code: "TOOL_PATH_INVALID", effect: "none" });
  expect(error.message).toContain(words);
});

it("outside any runtime every context tool says what to do", async () => {
  for (const call of [
    () => context_write.execute({ drive: "n", path: "/a", content: "" }),
    () => context_read.execute({ drive: "n", path: "/a" }),
    () => context_tree.execute({}),
    () => context_search.execute({ query: "a" }),
    () => contextTools.search_semantic.execute({ query: "a" }),
    () => contextTools.context_refresh.execute({}),
  ]) {
    await expect(call()).rejects.toMatchObject({
      code: "TOOL_RUNTIME_REQUIRED",
      hint: "Use runtime.call(tool, args), or call the tool inside runtime.run({ runId }, work).",
    });
  }
});

it("the model receives the schema of the seed", () => {
  expect(context_write.inputSchema.jsonSchema).toMatchObject({
    required: ["drive", "path", "content"],
    properties: { on_conflict: { enum: ["error", "overwrite"], default: "error" } },
  });
});

it("the command line takes one drive:/path", () => {
  const { positionals } = specOf(context_read).cli;
  if (positionals === undefined || !("parse" in positionals)) throw new Error("there is no parse");
  expect(positionals.parse("disk:/Users/evan/notes/meeting.md")).toEqual({
    drive: "disk",
    path: "/Users/evan/notes/meeting.md",
  });
  expect(positionals.parse("disk:")).toEqual({ drive: "disk", path: "/" });
  expect(() => positionals.parse("/Users/evan")).toThrow("such as notes:/a.md");
});
