/** Starts and resumes runs of the served workflows in this process, in the background. */
import { randomUUID } from "node:crypto";
import { ToolwrightError } from "../errors.ts";
import { messageOf } from "../invoke/error-record.ts";
import { Released } from "../invoke/run-release.ts";
import type { WorkflowOrigin } from "../operate/workflow-origin.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { toTerminalLine } from "../terminal/terminal-text.ts";
import type { WorkerWorkflowSource } from "../worker/options.ts";
import type { WorkflowDefinition } from "../workflow/create-workflows.ts";
import { parseInput } from "../workflow/parse-input.ts";
import { type RunWorkflowOptions, runWorkflow } from "../workflow/run-workflow.ts";

/** A workflow that is loaded when a run of it is first requested. Its file is stored with the run: a resume finds it. */
export type WorkflowSource = WorkerWorkflowSource;

export type ServedWorkflows = Readonly<Record<string, WorkflowDefinition | WorkflowSource>>;

const MOST_REMEMBERED = 10_000;

export class WorkflowRuns {
  readonly #workflows: ServedWorkflows;
  readonly #closed = new AbortController();
  readonly #running = new Set<Promise<unknown>>();
  readonly #startedHere = new Map<string, WorkflowSource>();

  constructor(workflows: ServedWorkflows) {
    this.#workflows = workflows;
  }

  get names(): string[] {
    return Object.keys(this.#workflows);
  }

  find(name: string): WorkflowSource | undefined {
    const named = Object.hasOwn(this.#workflows, name) ? this.#workflows[name] : undefined;
    return named === undefined ? undefined : toSource(named);
  }

  /** The served workflow of a stored run: the workflow that started it here, else found by its file, else by its name. */
  findFor(runId: string, { workflow, file }: WorkflowOrigin): WorkflowSource | undefined {
    const started = this.#startedHere.get(runId);
    if (started !== undefined) return started;
    const sources = Object.values(this.#workflows).map(toSource);
    return (
      (file === null ? undefined : sources.find((source) => source.file === file)) ?? this.find(workflow)
    );
  }

  /** @throws WORKFLOW_INPUT_INVALID, WORKFLOW_INVALID */
  async checkInput(source: WorkflowSource, input: unknown): Promise<void> {
    await parseInput(await loadFrom(source), input);
  }

  /** Resolves when the run is stored, with its id. @throws TOOL errors of a run that cannot start */
  async start(
    runtime: Runtime,
    source: WorkflowSource,
    { input, runId = randomUUID() }: { readonly input?: unknown; readonly runId?: string | undefined },
  ): Promise<string> {
    await this.#begin(source, { ...source.options, input, runId, runtime });
    // The name of the workflow in the tree may differ from the name that it is served under.
    this.#startedHere.set(runId, source);
    const [oldest] = this.#startedHere.keys();
    if (this.#startedHere.size > MOST_REMEMBERED && oldest !== undefined) this.#startedHere.delete(oldest);
    return runId;
  }

  /** Loads the file of a run's workflow, which defines its tools. A run of another kind has none. */
  async loadFor(runId: string, origin: WorkflowOrigin | undefined): Promise<void> {
    const source = origin === undefined ? undefined : this.findFor(runId, origin);
    if (source !== undefined) await loadFrom(source);
  }

  /** Resolves when the run has been claimed. */
  async resume(runtime: Runtime, source: WorkflowSource, runId: string): Promise<void> {
    await this.#begin(source, { runId, resume: true, runtime });
  }

  /** Stops the runs in progress and gives them back: a worker may take them immediately, or an operator resumes them. */
  async close(): Promise<void> {
    this.#closed.abort(new Released());
    await Promise.all(this.#running);
  }

  /** Waits until the run reports its first step or ends. An error before that is an error of the request. */
  async #begin(source: WorkflowSource, options: RunWorkflowOptions): Promise<void> {
    const workflow = await loadFrom(source);
    const begun = Promise.withResolvers<void>();
    let isBegun = false;
    const begin = (): void => {
      isBegun = true;
      begun.resolve();
    };
    const ended = runWorkflow(workflow, {
      ...options,
      ...(source.file === undefined ? {} : { file: source.file }),
      signal: this.#closed.signal,
      onProgress: begin,
    }).then(begin, (error: unknown) => {
      if (isBegun && !(error instanceof Released)) logError(options.runId ?? "", error);
      begun.reject(error);
    });
    this.#running.add(ended);
    void ended.finally(() => this.#running.delete(ended));
    await begun.promise;
  }
}

function toSource(workflow: WorkflowDefinition | WorkflowSource): WorkflowSource {
  return "load" in workflow ? workflow : { load: () => Promise.resolve(workflow) };
}

async function loadFrom(source: WorkflowSource): Promise<WorkflowDefinition> {
  try {
    return await source.load();
  } catch (error) {
    throw new ToolwrightError("WORKFLOW_INVALID", `The workflow cannot be loaded: ${messageOf(error)}`, {
      cause: error,
      hint: "Fix the file of the workflow, then try again.",
    });
  }
}

function logError(runId: string, error: unknown): void {
  console.error(`toolwright: run ${toTerminalLine(runId)}: ${toTerminalLine(messageOf(error))}`);
}
