/** Binds schemas, components and a store. Every workflow file starts with `createSmithers`. */
import type { StoreOption } from "../store/open-store.ts";
import { Approval, Branch, Loop, Parallel, Ralph, Sequence, Task, Workflow } from "./components.ts";
import type { WorkflowContext } from "./context.ts";
import type { WorkflowElement } from "./element.ts";
import type { OutputTokens, Schemas } from "./output-token.ts";
import { zodSchema } from "../definition/check-options.ts";
import { aFullText, aStore, Problem } from "../definition/option-checks.ts";
import { checkOptions, optionTable, type OptionTable } from "../definition/option-table.ts";
import { assertSameVersion, MADE_BY, OWN_COPY, type PackageCopy } from "../definition/package-copy.ts";
import { workflowError } from "./workflow-error.ts";

export interface SmithersOptions {
  /** A SQLite file. Default `"toolwright.db"`. */
  readonly dbPath?: string | undefined;
  readonly store?: StoreOption | undefined;
}

export const SMITHERS_OPTIONS: OptionTable = optionTable<SmithersOptions>(
  "createSmithers",
  { dbPath: aFullText, store: aStore },
  { example: '{ dbPath: "toolwright.db" }' },
);

const SCHEMA_HINT = "Pass one Zod schema for each output: createSmithers({ output: z.object({ … }) }).";
const DEFINITION = Symbol.for("toolwright.workflow");

/** The default export of a workflow file: a render function, and the schemas of its outputs. */
export interface WorkflowDefinition<S extends Schemas = Schemas> {
  render(ctx: WorkflowContext<S>): unknown;
  readonly schemas: S;
  readonly options: SmithersOptions;
}

export interface Smithers<S extends Schemas> {
  readonly Workflow: typeof Workflow;
  readonly Task: typeof Task;
  readonly Sequence: typeof Sequence;
  readonly Parallel: typeof Parallel;
  readonly Branch: typeof Branch;
  readonly Loop: typeof Loop;
  readonly Ralph: typeof Ralph;
  readonly Approval: typeof Approval;
  readonly outputs: OutputTokens<S>;
  readonly smithers: (render: (ctx: WorkflowContext<S>) => WorkflowElement) => WorkflowDefinition<S>;
}

/**
 * @example
 * const { Workflow, Task, smithers, outputs } = createSmithers({ result: z.object({ summary: z.string() }) });
 * export default smithers((ctx) => (
 *   <Workflow name="refactor">
 *     <Task id="refactor" output={outputs.result} agent={codeAgent}>{`Refactor ${ctx.input.file}.`}</Task>
 *   </Workflow>
 * ));
 */
export function createSmithers<const S extends Schemas>(
  schemas: S,
  options: SmithersOptions = {},
): Smithers<S> {
  if (typeof schemas !== "object" || schemas === null)
    throw workflowError("createSmithers", "needs an object of schemas, such as { output: z.object({}) }.");
  checkOptions(SMITHERS_OPTIONS, options);
  for (const [key, schema] of Object.entries(schemas)) {
    try {
      zodSchema(schema, `output "${key}"`);
    } catch (error) {
      if (error instanceof Problem) throw workflowError(error.field, error.message, SCHEMA_HINT);
      throw error;
    }
  }
  return {
    Workflow,
    Task,
    Sequence,
    Parallel,
    Branch,
    Loop,
    Ralph,
    Approval,
    outputs: createOutputTokens(schemas),
    smithers: (render) => {
      if (typeof render !== "function")
        throw workflowError("smithers()", "needs a function that returns a <Workflow>.");
      return { [DEFINITION]: true, [MADE_BY]: OWN_COPY, render, schemas, options } as WorkflowDefinition<S>;
    },
  };
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
