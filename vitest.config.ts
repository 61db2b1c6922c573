import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { IS_EXHAUSTIVE } from "./test/amount.ts";
import { SlowFirst } from "./test/sequence.ts";

// Commands that are printed follow the caller: started by npx, they begin with npx.
delete process.env["npm_command"];

const inRoot = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** The import paths of the package, as the compiler resolves them. */
const { compilerOptions } = JSON.parse(readFileSync(inRoot("tsconfig.json"), "utf8")) as {
  compilerOptions: { paths: Readonly<Record<string, readonly [string]>> };
};
const alias = Object.entries(compilerOptions.paths).map(([name, [file]]) => ({
  find: new RegExp(`^${name}$`),
  replacement: inRoot(file),
}));

export default defineConfig({
  oxc: { jsx: { importSource: "toolwright" } },
  resolve: { alias },
  test: {
    globalSetup: ["test/postgres/global-setup.ts"],
    sequence: { sequencer: SlowFirst },
    isolate: false,
    setupFiles: ["test/fresh-file.ts"],
    // On two cores the default is one worker. Many tests wait for leases, processes and servers, so four keep both cores busy.
    maxWorkers: 4,
    // A test that takes a second on an idle machine may take thirty beside others that start processes.
    testTimeout: 90_000,
    hookTimeout: 120_000,
    // What a test waits for has happened or will: the default of a second is too short on a busy machine.
    expect: { poll: { timeout: 60_000 } },
    projects: [
      {
        extends: true,
        test: { name: "all", include: ["src/**/*.test.{ts,tsx}", "test/**/*.test.{ts,tsx}"] },
      },
      {
        // For the inner loop of a contributor: no command line, no sandboxed commands, no killed processes.
        extends: true,
        test: {
          name: "fast",
          include: [
            "src/**/*.test.{ts,tsx}",
            "test/{agent,ai-sdk,anthropic,formats,langchain,openai-agents,project,seeds,semantics}/**/*.test.ts",
            "test/*.test.{ts,tsx}",
          ],
          exclude: [
            "src/snapshot/**",
            "test/{agent,anthropic}/killed.test.ts",
            "test/formats/resume-0.1.test.ts",
            "test/semantics/random-policies.test.ts",
            "test/{copied-tools,package-copies,listeners}.test.ts",
            "test/project/{api-report,examples,package-types}.test.ts",
          ],
        },
      },
      {
        // What a call means is the same on both stores.
        extends: true,
        test: {
          name: "on PostgreSQL",
          env: { TOOLWRIGHT_TEST_STORE: "postgres" },
          include: [
            "test/semantics/**/*.test.ts",
            "test/seeds/**/*.test.ts",
            "test/workflow/{cancelled-owners,resume,order,options,output-views,fork,fork-agents,saga}.test.tsx",
            "test/workflow/*-approvals.test.tsx",
            "test/waiting/{waits,signals,schedules}.test.{ts,tsx}",
            "test/agent/**/*.test.ts",
            "test/stream/{run-stream,late-readers,turn-race,chat,chat-failures,killed-chat}.test.ts",
          ],
          // No store is used in there, or both are.
          exclude: [
            "test/semantics/{definition,json-schema}.test.ts",
            "test/agent/{context-window,killed}.test.ts",
            // Loops and workflows are the same on both stores once the calls are. All of them run every night.
            ...(IS_EXHAUSTIVE
              ? []
              : [
                  "test/agent/**",
                  "test/seeds/**",
                  "test/workflow/{order,options,output-views,fork-agents,saga}.test.tsx",
                  "test/waiting/schedules.test.{ts,tsx}",
                  "test/stream/{turn-race,chat-failures,killed-chat}.test.ts",
                ]),
          ],
        },
      },
    ],
  },
});
