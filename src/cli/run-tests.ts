/** Runs test files with Node's test runner, and returns the result of each test as data. */
import { glob } from "node:fs/promises";
import { run } from "node:test";
import { preloadFlags } from "../load/preload.ts";
import { messageOf } from "../invoke/error-record.ts";

export interface TestResult {
  readonly name: string;
  readonly file: string | null;
  readonly status: "passed" | "failed" | "skipped" | "todo";
  readonly durationMs: number;
  readonly error: string | null;
}

export interface TestReport {
  readonly ok: boolean;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly tests: readonly TestResult[];
}

/** Files by name or pattern, as `node --test` takes them. */
export async function findTests(patterns: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  const exclude = (path: string): boolean => /(?:^|[\\/])node_modules$/.test(path);
  for await (const path of glob(patterns, { exclude })) found.push(path);
  return found.toSorted();
}

/** Output of the tests goes to stderr. */
export async function runTests(files: readonly string[]): Promise<TestReport> {
  const tests: TestResult[] = [];
  // Inside another test run, the inner runner would report to the outer one.
  delete process.env["NODE_TEST_CONTEXT"];
  if (files.length > 0) {
    for await (const { type, data } of run({ files: [...files], execArgv: preloadFlags() })) {
      if (type === "test:stdout" || type === "test:stderr") process.stderr.write(data.message);
      if (type === "test:pass" || type === "test:fail") tests.push(...resultOf(type === "test:pass", data));
    }
  }
  const count = (...statuses: readonly TestResult["status"][]): number =>
    tests.filter(({ status }) => statuses.includes(status)).length;
  const failed = count("failed");
  return { ok: failed === 0, passed: count("passed"), failed, skipped: count("skipped", "todo"), tests };
}

interface Ended {
  readonly name: string;
  readonly file?: string | undefined;
  readonly skip?: string | boolean | undefined;
  readonly todo?: string | boolean | undefined;
  readonly details: {
    readonly duration_ms: number;
    readonly type?: string | undefined;
    readonly error?: Error;
  };
}

/** Suites are skipped: only tests have results. */
function resultOf(isPassed: boolean, { name, file, skip, todo, details }: Ended): TestResult[] {
  if (details.type === "suite") return [];
  const status = isSet(skip) ? "skipped" : isSet(todo) ? "todo" : isPassed ? "passed" : "failed";
  const { error } = details;
  return [
    {
      name,
      file: file ?? null,
      status,
      durationMs: details.duration_ms,
      error: status === "failed" ? messageOf(error?.cause ?? error) : null,
    },
  ];
}

function isSet(mark: string | boolean | undefined): boolean {
  return mark !== undefined && mark !== false;
}
