/**
 * Made the fixtures in `fixtures/`, once, with version 1 of the format. They are replayed forever: never make them again.
 * For another case: `TOOLWRIGHT_MAKE_FIXTURES=1 npx vitest run test/replay/committed.test.tsx`.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createRuntime } from "toolwright";
import { recordRun } from "toolwright/testing";
import { toFixtureText } from "../../src/operate/fixtures/write-fixture.ts";
import type { Case } from "./cases.tsx";

export async function makeFixture(one: Case): Promise<void> {
  await using runtime = createRuntime({ store: ":memory:", recording: "keep" });
  await one.record(runtime, { charges: [] });
  const { runs } = await runtime.runs();
  const fixture = await recordRun(runtime, runs.at(-1)?.runId ?? "");
  writeFileSync(join(import.meta.dirname, "fixtures", `${one.name}.fixture.json`), toFixtureText(fixture));
}
