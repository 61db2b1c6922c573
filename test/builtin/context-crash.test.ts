/** A process that is killed while it writes context items: each item exists once, without extra versions. */
import { createRuntime } from "toolwright";
import { CRASH_POINTS, createCrashProgram } from "toolwright/testing";
import { contextTools } from "toolwright/tools";
import { describe, expect, test } from "vitest";
import { STORE_KINDS } from "../store-kinds.ts";
import { rowsOf } from "../workflow/harness.ts";
import { bundled } from "../started-programs.ts";

const { context_write, context_search } = contextTools;
const POINTS = CRASH_POINTS.filter((point) => point !== "in-effect");

describe.each(STORE_KINDS)("on $name", (kind) => {
  // Nine processes in sequence.
  test("killed at every point of both writes in turn", { timeout: 120_000 }, async () => {
    await using store = await kind.fresh();
    {
      await using runtime = createRuntime({ store: store.address });
      await runtime.call(context_write, { drive: "notes", path: "/old", content: "before" });
    }
    const program = createCrashProgram(bundled(new URL("./programs/write-context.ts", import.meta.url)), {
      args: [store.address],
    });
    for (const crashAt of POINTS) expect((await program.run({ crashAt })).crashed).toBe(true);
    // The first write is stored by now; the rest belongs to the second one.
    for (const crashAt of POINTS) expect((await program.run({ crashAt })).crashed).toBe(true);
    const { stdout } = await program.run();
    expect(JSON.parse(stdout)).toMatchObject([
      { status: "success", output: { version: 1, created: true, changed: true } },
      { status: "success", output: { version: 2, created: false, changed: true } },
    ]);
    expect(
      await rowsOf(
        store.address,
        "SELECT path, version, content FROM toolwright_context_items ORDER BY path",
      ),
    ).toEqual([
      { path: "/new", version: 1, content: "the only words" },
      { path: "/old", version: 2, content: "after" },
    ]);
    // As many chunks as items, each indexed once.
    expect(await rowsOf(store.address, "SELECT id FROM toolwright_context_chunks")).toHaveLength(2);
    await using runtime = createRuntime({ store: store.address });
    expect(await runtime.call(context_search, { query: "before" })).toMatchObject({
      output: { results: [] },
    });
    expect(await runtime.call(context_search, { query: "only" })).toMatchObject({
      output: { results: [{ path: "/new" }] },
    });
  });
});
