/** Replays a fixture with the code of this project, and prints what differs. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Fixture } from "../invoke/replay/fixture.ts";
import type { ReplayOptions, ReplayResult } from "../testing/replay-run.ts";
import { readFixture } from "../operate/fixtures/read-fixture.ts";
import { replayRun } from "../operate/fixtures/replay-run.ts";
import { reserveStdout } from "../terminal/reserve-stdout.ts";
import { toShortText } from "../terminal/readable.ts";
import { toTerminalName } from "../terminal/terminal-text.ts";
import { CliError } from "./cli-error.ts";
import { findConfig } from "./find-config.ts";
import { importFile } from "./import-file.ts";
import { type Config, loadConfig } from "./load-config.ts";
import { findWorkflowFile, loadWorkflow } from "./load-workflow.ts";
import type { Screen } from "./screen.ts";

/** Whether the replay is the same as the recorded run. */
export async function replayFile(screen: Screen, path: string, file: string | undefined): Promise<boolean> {
  // A path, even if it starts like JSON.
  const fixture = readFixture(resolve(path));
  // With --json, stdout holds the result only.
  const restore = screen.isJson ? reserveStdout() : () => undefined;
  const result = await optionsFor(fixture, file)
    // The file was read and checked: its texts are in their places, so the checksum no longer matches.
    .then((options) => replayRun(resolve(path), options))
    .finally(restore);
  print(screen, fixture, result);
  return result.same;
}

async function optionsFor({ run }: Fixture, file: string | undefined): Promise<ReplayOptions> {
  const config = findConfig(process.cwd()) === undefined ? undefined : await loadConfig(process.cwd());
  const tools = config === undefined ? {} : { tools: config.tools };
  if (run.kind === "workflow") {
    const found = file ?? namedFile(run, config);
    if (found === undefined) throw missing(run, "its workflow");
    return { workflow: await loadWorkflow(findWorkflowFile(found, config?.workflows)), ...tools };
  }
  if (file !== undefined) {
    const { default: agent } = await importFile(resolve(file));
    if (typeof agent !== "function" && (typeof agent !== "object" || agent === null))
      throw new CliError(
        "CLI_FILE_INVALID",
        `${file} has no default export that is an agent or a function.`,
        "Write: export default agent, or export default ({ runtime, runId }) => …",
      );
    return { agent, ...tools };
  }
  const agent = config?.agents?.[run.name] ?? config?.programs?.[run.name];
  if (agent !== undefined) return { agent: agent as never, ...tools };
  if (run.kind !== "tool") throw missing(run, run.kind === "agent" ? "its agent" : "its program");
  return tools;
}

/** The workflow of the config with the name of the run or of its file, else the file in this folder. */
function namedFile({ name, file }: Fixture["run"], config: Config | undefined): string | undefined {
  const workflows = Object.entries(config?.workflows ?? {});
  const named =
    workflows.find(([key]) => key === name) ?? workflows.find(([, path]) => path.endsWith(`/${file}`));
  return named?.[1] ?? (file !== undefined && existsSync(file) ? file : undefined);
}

function missing({ runId, name }: Fixture["run"], what: string): CliError {
  return new CliError(
    "CLI_FILE_MISSING",
    `The fixture of run "${runId}" (${name}) does not say where ${what} is.`,
    "Pass the file that exports it by default: toolwright replay <fixture> <file>",
  );
}

const MOST_SHOWN = 20;

function print(screen: Screen, { run, calls, responses }: Fixture, result: ReplayResult): void {
  const { runId, same, diff, status, error } = result;
  screen.printJson({
    runId,
    same,
    status,
    error: error === undefined ? null : { code: error.code, message: error.message },
    diff: diff.map((one) => ({ ...one, expected: one.expected ?? null, actual: one.actual ?? null })),
  });
  const name = `${run.name === "" ? run.kind : run.name} ${toTerminalName(runId)}`;
  if (same) {
    const counted = `${count(calls.length, "call")}, ${count(responses.length, "response")}`;
    screen.print(`${screen.paint("green", "same")}  ${name}: ${counted}, ${status} as recorded`);
    return;
  }
  screen.print(`${screen.paint("red", "different")}  ${name}: ${count(diff.length, "difference")}`);
  for (const { kind, nodeId, call, path, expected, actual } of diff.slice(0, MOST_SHOWN)) {
    const location = [nodeId, call].filter((one) => one !== undefined && one !== "").join(" ");
    screen.print(`  ${kind}${location === "" ? "" : ` ${location}`}${path === "" ? "" : `: ${path}`}`);
    screen.print(`    recorded  ${shown(expected)}`);
    screen.print(`    now       ${shown(actual)}`);
  }
  if (diff.length > MOST_SHOWN) screen.print(`  and ${diff.length - MOST_SHOWN} more; --json prints all`);
}

function shown(value: unknown): string {
  return value === undefined ? "(nothing)" : toShortText(value, 100);
}

function count(number: number, one: string): string {
  return `${number} ${one}${number === 1 ? "" : "s"}`;
}
