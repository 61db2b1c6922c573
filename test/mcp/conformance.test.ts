/**
 * The official conformance suite, in both revisions of the protocol, against `serveMcpHttp` and against a program
 * that imports tools. docs/guides/mcp.md says which scenarios do not concern us, and why; a scenario that is on no list fails
 * the test. Usually such a program is only tested with the newest revision.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { IS_EXHAUSTIVE } from "../amount.ts";
import { bundled } from "../started-programs.ts";

const PROJECT = resolve(import.meta.dirname, "../..");
const SUITE = join(PROJECT, "node_modules/@modelcontextprotocol/conformance/dist/index.js");
const REVISIONS = ["2025-11-25", "2026-07-28"] as const;

interface CheckResult {
  readonly id: string;
  readonly status: "SUCCESS" | "FAILURE" | "WARNING" | "SKIPPED" | "INFO";
  readonly errorMessage?: string;
}

/** Scenarios about features that tools do not have, by the start of their names. */
const NOT_OURS = [
  "completion-",
  "prompts-",
  "resources-",
  "sep-2164-resource-not-found",
  "sep-2640-",
  "tasks-",
  // Tools ask for approval only: the content of the form, and sampling and roots, are not theirs to choose.
  "elicitation-sep1034-defaults",
  "elicitation-sep1330-enums",
  "tools-call-sampling",
  "input-required-result-basic-",
  "input-required-result-capability-check",
  "input-required-result-ignore-extra-params",
  "input-required-result-multi-round",
  "input-required-result-multiple-input-requests",
  "input-required-result-non-tool-request",
];

/** Checks about such features, inside scenarios that concern us. */
const CHECKS_NOT_OURS = new Set([
  "sep-2549-prompts-list-caching-hints",
  "sep-2549-resources-list-caching-hints",
  "sep-2549-resources-templates-list-caching-hints",
  "sep-2549-resources-read-caching-hints",
  // A call that needs approval waits, instead of failing, if its client cannot ask.
  "sep-2575-server-rejects-undeclared-capability",
  "sep-2575-missing-capability-http-400",
  "sep-2575-server-sends-prompts-list-changed-on-subscription",
  // Over HTTP the list does not change while the server runs, and the server says so.
  "sep-2575-server-sends-tools-list-changed-on-subscription",
  // Capabilities and requests of the client that importing tools does not need.
  "sep-2575-client-declares-roots-capability",
  "sep-2575-client-declares-sampling-capability",
  "sep-2243-client-includes-standard-headers",
]);

let folder = "";
let server: ChildProcess;
let url = "";

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "toolwright-conformance-"));
  server = spawn(process.execPath, [join(import.meta.dirname, "programs/conformance-server.ts")], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  [url] = (await once(createInterface({ input: server.stdout as NodeJS.ReadableStream }), "line")) as [
    string,
  ];
});

afterAll(() => {
  server.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

/** The findings of a run of the suite, by scenario. */
async function runSuite(name: string, args: readonly string[]): Promise<Map<string, CheckResult[]>> {
  const results = join(folder, name);
  const child = spawn(process.execPath, [SUITE, ...args, "-o", results], {
    cwd: PROJECT,
    stdio: "ignore",
  });
  await once(child, "exit");
  const runs = readdirSync(results, { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith("checks.json"),
  );
  return new Map(
    runs.map((file) => {
      const scenario = file.replace(/^server-/, "").replace(/-\d{4}-\d\d-\d\dT.*$/, "");
      return [scenario, JSON.parse(readFileSync(join(results, file), "utf8")) as CheckResult[]];
    }),
  );
}

/** Describes the failed checks. Warnings count: they stand for a SHOULD of the protocol. */
function problemsIn(found: ReadonlyMap<string, readonly CheckResult[]>): string[] {
  return [...found].flatMap(([scenario, checks]) =>
    checks
      .filter(({ id, status }) => status !== "SUCCESS" && status !== "INFO" && !CHECKS_NOT_OURS.has(id))
      .map(({ id, status, errorMessage = "" }) => `${scenario}: ${id} ${status} ${errorMessage}`),
  );
}

const SERVER_SCENARIOS = {
  "2025-11-25": [
    "dns-rebinding-protection",
    "json-schema-2020-12",
    "logging-set-level",
    "ping",
    "server-initialize",
    "server-session-lifecycle",
    "server-sse-multiple-streams",
    "server-sse-polling",
    "tools-call-audio",
    "tools-call-elicitation",
    "tools-call-embedded-resource",
    "tools-call-error",
    "tools-call-image",
    "tools-call-mixed-content",
    "tools-call-simple-text",
    "tools-call-with-logging",
    "tools-call-with-progress",
    "tools-list",
  ],
  "2026-07-28": [
    "caching",
    "dns-rebinding-protection",
    "http-custom-header-server-validation",
    "http-header-validation",
    "input-required-result-missing-input-response",
    "input-required-result-request-state",
    "input-required-result-result-type",
    "input-required-result-tampered-state",
    "input-required-result-unsupported-methods",
    "input-required-result-validate-input",
    "json-schema-2020-12",
    "server-sse-multiple-streams",
    "server-stateless",
    "tools-call-audio",
    "tools-call-embedded-resource",
    "tools-call-error",
    "tools-call-image",
    "tools-call-mixed-content",
    "tools-call-simple-text",
    "tools-call-with-progress",
    "tools-list",
  ],
} as const;

test.each(REVISIONS)("our server conforms to revision %s", { timeout: 120_000 }, async (revision) => {
  const found = await runSuite(`server ${revision}`, [
    "server",
    "--url",
    url,
    "--suite",
    "all",
    "--spec-version",
    revision,
  ]);
  const ours = new Map([...found].filter(([name]) => !NOT_OURS.some((start) => name.startsWith(start))));
  expect([...ours.keys()].sort()).toEqual(SERVER_SCENARIOS[revision]);
  expect(problemsIn(ours)).toEqual([]);
});

const CLIENT_SCENARIOS = {
  "2025-11-25": [
    "initialize",
    "tools_call",
    "elicitation-sep1034-client-defaults",
    "sse-retry",
    "json-schema-2020-12-preservation",
  ],
  "2026-07-28": [
    "tools_call",
    "request-metadata",
    "sep-2322-client-request-state",
    "http-standard-headers",
    "http-custom-headers",
    "http-invalid-tool-headers",
    "json-schema-ref-no-deref",
    "json-schema-2020-12-preservation",
  ],
} as const;

describe.each(REVISIONS.slice(IS_EXHAUSTIVE ? 0 : 1))(
  "a program that imports tools, revision %s",
  (revision) => {
    test("conforms", { timeout: 120_000 }, async () => {
      const client = bundled(join(import.meta.dirname, "programs/conformance-client.ts"));
      const command = `${process.execPath} ${client}`;
      // Two at a time: most of a scenario is the start of two programs.
      const runs = CLIENT_SCENARIOS[revision].map(
        (scenario) => () =>
          runSuite(`client ${revision} ${scenario}`, [
            "client",
            "--command",
            command,
            "--scenario",
            scenario,
            "--spec-version",
            revision,
          ]),
      );
      const found: Map<string, CheckResult[]>[] = [];
      const work = async (): Promise<void> => {
        for (let run = runs.shift(); run !== undefined; run = runs.shift()) found.push(await run());
      };
      await Promise.all([work(), work()]);
      const all = new Map(found.flatMap((one) => [...one]));
      expect([...all.keys()].sort()).toEqual([...CLIENT_SCENARIOS[revision]].sort());
      expect(problemsIn(all)).toEqual([]);
    });
  },
);
