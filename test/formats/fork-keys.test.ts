/** Rule 35: the keys of forks and reverts are a stored format. Do not change the vectors. */
import { expect, test } from "vitest";
import { callKey, forkedKey, scopeText } from "../../src/definition/call-key.ts";
import { revertIdentity, revertName } from "../../src/runtime/revert/plan-reverts.ts";

const main = { runId: "r1", nodeId: "main", iteration: 0, path: "0", parentKey: "" };
const origin = callKey(scopeText(main), 0, `"charge" {"amount":7}`);

test("rule 35: the key of a call in a fork derives from the key of the equal call in the first run", () => {
  expect(origin).toBe("noGD1rCZs-tFfJZwoxXXQ1Yn3hz7JfwCXAPeZn3OJhg");
  expect(forkedKey("fork-1", origin)).toBe("IyNgl_3cEj8UFp2lfGX1vxv7qdu-Hc1OZ8B3dMCYUG8");
});

test("rule 35: the key of a revert derives from the key of the call that it reverts", () => {
  const text = `${JSON.stringify(revertName("charge"))} {}`;
  expect(callKey(scopeText(revertIdentity("r1")), origin, text)).toBe(
    "pd6bIYideVa7wd5kMgDGUiVShQLPEQxWRiOU0zTJNtY",
  );
});
