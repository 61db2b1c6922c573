/** A cached tool that calls itself. */
import { defineTool } from "toolwright";
import { expect, it } from "vitest";
import { z } from "zod";
import { createWorld } from "./harness.ts";

it("runs inside itself instead of waiting for itself", async () => {
  const world = await createWorld();
  let depth = 0;
  const recursive = defineTool({
    name: "recursive",
    schema: z.object({}),
    cache: true,
    execute: async (): Promise<string> =>
      (depth += 1) === 1 ? `outer ${await recursive.execute({})}` : "inner",
  });
  expect(await (await world.runtime()).call(recursive, {}, { runId: "r1" })).toMatchObject({
    output: "outer inner",
  });
});
