/** Binds schemas, components and a store. Every workflow file starts with `createWorkflows`, or its alias `createSmithers`. */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { StoreOption } from "../store/open-store.ts";
import { COMPONENTS, type Components } from "./components.ts";
import type { WorkflowContext } from "./context.ts";
import type { WorkflowElement } from "./element.ts";
import type { OutputTokens, Schemas } from "./output-token.ts";
import { zodSchema } from "../definition/check-tool-options.ts";
import { aFullText, aStore, Problem } from "../definition/option-checks.ts";
import { checkOptions, optionTable, type OptionTable } from "../definition/option-table.ts";
import { assertSameVersion, MADE_BY, OWN_COPY, type PackageCopy } from "../definition/package-copy.ts";
import { workflowError } from "./workflow-error.ts";

export interface WorkflowsOptions {
  /** A SQLite file. Default `"toolwright.db"`. */
  readonly dbPath?: string | undefined;
  readonly store?: StoreOption | undefined;
}

export const WORKFLOWS_OPTIONS: OptionTable = optionTable<WorkflowsOptions>(
  "createWorkflows",
  { dbPath: aFullText, store: aStore },
  { example: '{ dbPath: "toolwright.db" }' },
);

const DEFINITION = Symbol.for("toolwright.workflow");
const DEFINED_IN = Symbol.for("toolwright.workflow.defined in");

/** The default export of a workflow file: a render function, and the schemas of its outputs. */
export interface WorkflowDefinition<S extends Schemas = Schemas> {
  render(ctx: WorkflowContext<S>): unknown;
  readonly schemas: S;
  readonly options: WorkflowsOptions;
}

export interface Workflows<S extends Schemas> extends Components {
  readonly outputs: OutputTokens<S>;
  /** Defines a workflow from a function that returns its tree. */
  readonly workflow: (render: (ctx: WorkflowContext<S>) => WorkflowElement) => WorkflowDefinition<S>;
  /** Another name of `workflow`, for files written for Smithers. */
  readonly smithers: Workflows<S>["workflow"];
}

/** Another name of {@link Workflows}. */
export type Smithers<S extends Schemas> = Workflows<S>;
/** Another name of {@link WorkflowsOptions}. */
export type SmithersOptions = WorkflowsOptions;

/**
 * Defines the outputs of a workflow by their schemas, and returns the components that use them. Two keys are special:
 * `input` is the schema of the run's input, `output` the result of the run.
 *
 * @example
 * const { Workflow, Task, workflow, outputs } = createWorkflows({ result: z.object({ summary: z.string() }) });
 * export default workflow((ctx) => (
 *   <Workflow name="refactor">
 *     <Task id="refactor" output={outputs.result} agent={codeAgent}>{`Refactor ${ctx.input.file}.`}</Task>
 *   </Workflow>
 * ));
 */
export function createWorkflows<const S extends Schemas>(
  schemas: S,
  options: WorkflowsOptions = {},
): Workflows<S> {
  return bindWorkflows("createWorkflows", schemas, options);
}

/**
 * Another name of {@link createWorkflows}: it takes the same arguments and returns the same object. Workflow files
 * written for Smithers, where the functions are called `createSmithers` and `smithers`, run unchanged.
 */
export function createSmithers<const S extends Schemas>(
  schemas: S,
  options: WorkflowsOptions = {},
): Workflows<S> {
  return bindWorkflows("createSmithers", schemas, options);
}

/** @param surface the name that the caller used, for errors */
function bindWorkflows<const S extends Schemas>(
  surface: string,
  schemas: S,
  options: WorkflowsOptions,
): Workflows<S> {
  if (typeof schemas !== "object" || schemas === null)
    throw workflowError(surface, "needs an object of schemas, such as { output: z.object({}) }.");
  if ("safeParse" in schemas)
    throw workflowError(
      surface,
      "needs an object with one schema for each output, not a single schema.",
      `Give the output a name: ${surface}({ output: schema }).`,
    );
  checkOptions({ ...WORKFLOWS_OPTIONS, surface }, options);
  for (const [key, schema] of Object.entries(schemas)) {
    try {
      zodSchema(schema, `output "${key}"`);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      const hint = `Pass one Zod schema for each output: ${surface}({ output: z.object({ … }) }).`;
      throw workflowError(error.field, error.message, hint);
    }
  }
  const define =
    (name: string): Workflows<S>["workflow"] =>
    (render) => {
      if (typeof render !== "function")
        throw workflowError(`${name}()`, "needs a function that returns a <Workflow>.");
      return {
        [DEFINITION]: true,
        [MADE_BY]: OWN_COPY,
        [DEFINED_IN]: callerFile(),
        render,
        schemas,
        options,
      } as WorkflowDefinition<S>;
    };
  return {
    ...COMPONENTS,
    outputs: createOutputTokens(schemas),
    workflow: define("workflow"),
    smithers: define("smithers"),
  };
}

/** The file that called `workflow()`, if it is known: a worker uses it to find out whether the code has changed. */
export function definitionFile(workflow: WorkflowDefinition): string | undefined {
  return (workflow as { [DEFINED_IN]?: string })[DEFINED_IN];
}

/** @throws TOOL_PACKAGE_CONFLICT if another version of the package created it */
export function isWorkflowDefinition(value: unknown): value is WorkflowDefinition {
  if (typeof value !== "object" || value === null || !(DEFINITION in value)) return false;
  assertSameVersion((value as { [MADE_BY]?: PackageCopy })[MADE_BY], "The workflow");
  return true;
}

function createOutputTokens<S extends Schemas>(schemas: S): OutputTokens<S> {
  const tokens = Object.entries(schemas).map(([key, schema]) => [key, { key, schema }]);
  return Object.fromEntries(tokens) as OutputTokens<S>;
}

const OWN_FOLDER = fileURLToPath(new URL("..", import.meta.url));
const FRAME = /(?:\(|at |async )((?:file:\/\/)?\/[^()\n]+?):\d+:\d+\)?$/;

/** The file of the code that called this package. `undefined` if the stack does not name an existing file outside this package, as in a bundle without file names. */
function callerFile(): string | undefined {
  const lines = new Error("stack").stack?.split("\n").slice(1) ?? [];
  for (const line of lines) {
    const [, place = ""] = FRAME.exec(line) ?? [];
    const path = toPath(place);
    if (path === undefined || path.startsWith(OWN_FOLDER)) continue;
    return existsSync(path) ? path : undefined;
  }
  return undefined;
}

function toPath(place: string): string | undefined {
  if (place === "") return undefined;
  try {
    return place.startsWith("file:") ? fileURLToPath(place) : place.replace(/[?#].*$/, "");
  } catch {
    return undefined;
  }
}
