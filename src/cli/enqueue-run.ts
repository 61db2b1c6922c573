/** Stores a run for the workers, with its input checked if the workflow is known here. */
import { nearestName } from "../definition/nearest-name.ts";
import { absoluteAddress } from "../operate/store-address.ts";
import { listWorkers } from "../operate/list-workers.ts";
import { createRuntime, hostOf } from "../runtime/create-runtime.ts";
import { toTerminalName } from "../terminal/terminal-text.ts";
import { parseInput } from "../workflow/parse-input.ts";
import { CliError } from "./cli-error.ts";
import { nextCommand } from "./command-name.ts";
import type { EnqueueCommandOptions } from "./commands/enqueue.ts";
import { loadWorkflow } from "./load-workflow.ts";
import { parseLabels } from "./parse-labels.ts";
import { loadSettingsFor } from "./project-settings.ts";
import type { Screen } from "./screen.ts";

export async function enqueueFrom(
  screen: Screen,
  name: string,
  input: unknown,
  options: EnqueueCommandOptions,
): Promise<void> {
  const config = await loadSettingsFor(screen);
  const { workflows = {}, programs = {}, agents = {} } = config ?? {};
  await using runtime = createRuntime({ store: absoluteAddress(options.store) });
  await runtime.ready();
  const { store } = await hostOf(runtime);
  const workers = (await listWorkers(store)).filter(({ status }) => status !== "dead");
  const known = [
    ...Object.keys({ ...workflows, ...programs, ...agents }),
    ...workers.flatMap(({ serves }) => serves.map((one) => one.name)),
  ];
  if (known.length > 0 && !known.includes(name)) throw unknownName(name, known);
  const file = Object.hasOwn(workflows, name) ? workflows[name] : undefined;
  if (file !== undefined) await parseInput(await loadWorkflow(file), input);
  const { runId } = await runtime.enqueue(name, {
    input,
    runId: options.runId,
    startAt: options.startAt === undefined ? undefined : timeOf(options.startAt),
    priority: options.priority,
    labels: parseLabels(options.label),
    kind: Object.hasOwn(agents, name) ? "agent" : Object.hasOwn(programs, name) ? "program" : undefined,
  });
  const isServed = workers.some(({ serves }) => serves.some((one) => one.name === name));
  screen.printJson({ runId, status: "queued", worker: isServed });
  screen.print(`queued ${toTerminalName(runId)}`);
  if (!isServed)
    screen.print(
      `  No running worker knows "${toTerminalName(name)}". Start one: ${nextCommand(options.store, "worker")}`,
    );
}

function unknownName(name: string, known: readonly string[]): CliError {
  const names = [...new Set(known)];
  const near = nearestName(name, names);
  return new CliError(
    "WORKFLOW_UNKNOWN",
    `There is no workflow, agent or program named "${toTerminalName(name)}".${near === undefined ? "" : ` Did you mean "${near}"?`}`,
    `Known names: ${names.join(", ")}. Name it under workflows in toolwright.config, or start a worker that serves it.`,
  );
}

function timeOf(text: string): number {
  const ms = /^\d{10,16}$/.test(text) ? Number(text) : Date.parse(text);
  if (!Number.isNaN(ms)) return ms;
  throw new CliError(
    "CLI_USAGE",
    `--start-at is not a time: ${JSON.stringify(text)}.`,
    "Write a time such as 2027-01-31T09:00:00Z, or milliseconds since 1970.",
  );
}
