/** Fixtures that were recorded when the format was new are replayed forever: see docs/internals/formats.md. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Fixture, replayRun } from "toolwright/testing";
import { describe, expect, test } from "vitest";
import { readFixture } from "../../src/operate/fixtures/read-fixture.ts";
import { CASES, type Effects } from "./cases.tsx";
import { makeFixture } from "./make-fixtures.ts";

describe.each(CASES)("the committed fixture of kind $name", (one) => {
  const path = join(import.meta.dirname, "fixtures", `${one.name}.fixture.json`);

  test("is the same", async () => {
    // For a new case. The fixtures of all others are never written again.
    if (!existsSync(path) && process.env["TOOLWRIGHT_MAKE_FIXTURES"] === "1") await makeFixture(one);
    const effects: Effects = { charges: [] };
    const { diff, status } = await replayRun(path, one.replay(effects));
    expect(diff).toEqual([]);
    const { run }: Fixture = readFixture(path);
    expect([status, effects.charges]).toEqual([run.status, []]);
  });
});
