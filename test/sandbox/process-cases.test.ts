/**
 * The table of cases for `bash` and `grep`: our own, and the shared sample where it lies beside the repository. One
 * runner for both, so that what one of them can say the other can.
 */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, test } from "vitest";
import { createCaseRunner, type CaseRunner, type SandboxCase } from "./process-case-runner.ts";
import { requireBubblewrap } from "./process-harness.ts";
import { OWN_CASES } from "./process-own-cases.ts";

let runner: CaseRunner;

beforeAll(async () => {
  await requireBubblewrap();
  runner = await createCaseRunner();
});
afterAll(() => runner?.close());

const shared = fileURLToPath(new URL("../../../shared/sandbox-cases.json", import.meta.url));
const sharedCases = existsSync(shared) ? (JSON.parse(readFileSync(shared, "utf8")) as SandboxCase[]) : [];
const ours = ({ tool }: SandboxCase): boolean => tool === "bash" || tool === "grep";

describe("our own cases", () => {
  test.each(OWN_CASES.map((each) => [each.id, each] as const))("%s", (_, each) => runner.run(each));
});

describe.runIf(sharedCases.length > 0)("the shared cases", () => {
  test.each(sharedCases.filter(ours).map((each) => [each.id, each] as const))("%s", (_, each) =>
    runner.run(each),
  );
});
