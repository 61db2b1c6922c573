/** The workflows and programs of a worker: loads them, and finds the one that belongs to a ready run. */
import { resolve } from "node:path";
import type { SmartAgent } from "../agent/create-smart-agent.ts";
import { ToolwrightError } from "../errors.ts";
import { messageOf } from "../invoke/error-record.ts";
import { hostOf } from "../runtime/create-runtime.ts";
import { listedName } from "../store/tables/runs.ts";
import { hasTurns } from "../store/tables/turns.ts";
import type { ReadyRun, Served } from "../store/tables/queue.ts";
import type { WorkerWorkflow } from "../workflow/claim-for-worker.ts";
import { shapeOf } from "../workflow/claim-run.ts";
import { definitionFile, isWorkflowDefinition } from "../workflow/create-workflows.ts";
import { startOptionsOf } from "../workflow/run-options.ts";
import type { Program, WorkerOptions, WorkerWorkflowSource } from "./options.ts";

export type Runnable =
  | { readonly kind: "workflow"; readonly workflow: WorkerWorkflow }
  | { readonly kind: "agent" | "program"; readonly program: Program };

export class ServedCode {
  readonly served: readonly Served[];
  readonly #byName: ReadonlyMap<string, Runnable>;
  /** A file may define several workflows. */
  readonly #byCode: ReadonlyMap<string, readonly Runnable[]>;

  constructor(entries: readonly { readonly served: Served; readonly runnable: Runnable }[]) {
    this.served = entries.map(({ served }) => served);
    this.#byName = new Map(
      entries.map(({ served, runnable }) => [keyOf(served.kind, listedName(served.name)), runnable]),
    );
    this.#byCode = Map.groupBy(
      entries.map(({ runnable }) => runnable),
      (_, index) => entries[index]?.served.code ?? "",
    );
  }

  find({ kind, name }: ReadyRun): Runnable | undefined {
    return this.#byName.get(keyOf(kind, name));
  }

  /**
   * What the run may be of if its name is unknown: `toolwright up` may have started it under another name. Another workflow of
   * the same file has the same code, so the run itself has to be checked.
   */
  findByCode({ code }: ReadyRun): readonly Runnable[] {
    return code === null ? [] : (this.#byCode.get(code) ?? []);
  }
}

function keyOf(kind: string, name: string): string {
  return `${kind} ${name}`;
}

/** @throws WORKFLOW_INVALID for a workflow that cannot be loaded */
export async function loadServed(options: WorkerOptions): Promise<ServedCode> {
  const entries: { served: Served; runnable: Runnable }[] = [];
  for (const [name, given] of Object.entries(options.workflows ?? {})) {
    const source: WorkerWorkflowSource = isWorkflowDefinition(given)
      ? { load: () => Promise.resolve(given) }
      : given;
    const workflow = await load(name, source);
    const found = source.file ?? definitionFile(workflow);
    const file = found === undefined ? undefined : resolve(found);
    // Taken now: the file may change while the worker runs the version that it has loaded.
    const shape = shapeOf(workflow, file);
    const start = startOptionsOf(source.options ?? {});
    entries.push({
      served: { kind: "workflow", name, ...(file === undefined ? {} : { code: shape }) },
      runnable: { kind: "workflow", workflow: { workflow, file, shape, start, views: new Set() } },
    });
  }
  const { agents = {} } = options;
  for (const [name, agent] of Object.entries(agents)) {
    const runnable = { kind: "agent", program: toProgram(agent) } as const;
    entries.push({ served: { kind: "agent", name }, runnable });
    // Runs that other processes started are listed under the agent's own name.
    const { name: own } = agent;
    if (typeof agent !== "function" && own !== undefined && !Object.hasOwn(agents, own))
      entries.push({ served: { kind: "agent", name: own }, runnable });
  }
  for (const [name, program] of Object.entries(options.programs ?? {}))
    entries.push({ served: { kind: "program", name }, runnable: { kind: "program", program } });
  return new ServedCode(entries);
}

async function load(name: string, source: WorkerWorkflowSource): Promise<WorkerWorkflow["workflow"]> {
  try {
    const workflow = await source.load();
    if (isWorkflowDefinition(workflow)) return workflow;
  } catch (error) {
    throw new ToolwrightError(
      "WORKFLOW_INVALID",
      `The workflow "${name}" cannot be loaded: ${messageOf(error)}`,
      {
        cause: error,
        hint: "Fix the file of the workflow, then start the worker again.",
      },
    );
  }
  throw new ToolwrightError(
    "WORKFLOW_INVALID",
    `The workflow "${name}" cannot be loaded: load() returned none.`,
  );
}

/** An agent is invoked with the enqueued input under the id of the run. Once it has a turn, its last turn continues. */
function toProgram(agent: SmartAgent | Program): Program {
  if (typeof agent === "function") return agent;
  return async ({ runId, input, signal, runtime }) => {
    const { store } = await hostOf(runtime);
    const isStarted = input === undefined || (await store.read(() => hasTurns(runId)));
    return agent.invoke(isStarted ? { runId } : { ...toInput(input), runId }, { signal });
  };
}

/** A text is a message of the user. */
function toInput(input: unknown): { readonly messages: never[] } {
  const given =
    typeof input === "string"
      ? { messages: [{ role: "user", content: input }] }
      : typeof input === "object" && input !== null && "prompt" in input && !("messages" in input)
        ? { messages: [{ role: "user", content: String(input.prompt) }] }
        : input;
  return given as { readonly messages: never[] };
}
