/** The tables of cases for `bash` and `grep`: measured cases, and our own. One runner for both. */
import { afterAll, beforeAll, describe, test } from "vitest";
import { createCaseRunner, type CaseRunner, type SandboxCase } from "./process-case-runner.ts";
import cases from "./cases.json" with { type: "json" };
import { requireBubblewrap } from "./process-harness.ts";
import { OWN_CASES } from "./process-own-cases.ts";

let runner: CaseRunner;

beforeAll(async () => {
  await requireBubblewrap();
  runner = await createCaseRunner();
});
afterAll(() => runner?.close());

const measured = cases as unknown as SandboxCase[];
const ours = ({ tool }: SandboxCase): boolean => tool === "bash" || tool === "grep";

describe("our own cases", () => {
  test.each(OWN_CASES.map((each) => [each.id, each] as const))("%s", (_, each) => runner.run(each));
});

describe("the measured cases", () => {
  test.each(measured.filter(ours).map((each) => [each.id, each] as const))("%s", (_, each) =>
    runner.run(each),
  );
});
