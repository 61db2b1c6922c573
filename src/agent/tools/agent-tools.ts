/**
 * The tools of an agent: those in its options, and its built-in ones. The request hash covers their names, descriptions and
 * schemas: a changed text makes runs of an earlier version diverge instead of replaying their responses.
 */
import type { z } from "zod";
import type { JsonSchema } from "../../definition/json-schema.ts";
import { toObjectSchema } from "../../definition/object-schema.ts";
import { createToolSpec, type ToolSpec } from "../../definition/tool-spec.ts";
import { createCallable, specOf } from "../../tool/create-callable.ts";
import { offerTools } from "../../tool/registry.ts";
import type { Tool } from "../../tool/tool.ts";
import type { OfferedTool } from "../../model/agent-model.ts";
import type { SmartAgentOptions } from "../options.ts";
import { RESPONSE, TODO_LIST, TOOL_RESPONSE } from "./tool-names.ts";
import { createTodoListSpec, type PlanBook, withPlan } from "./todo-list.ts";
import { type PageSource, createToolResponseSpec, withSource } from "./tool-response.ts";

/** The tools that all invokes of an agent share. */
export interface ToolSet {
  readonly given: ReadonlyMap<string, Tool>;
  readonly todoSpec: ToolSpec | undefined;
  readonly toolResponseSpec: ToolSpec;
  readonly responseSpec: ToolSpec | undefined;
  readonly offered: readonly OfferedTool[];
}

export function createToolSet({ tools = [], outputSchema, planning }: SmartAgentOptions): ToolSet {
  const given = offerTools(tools);
  const todoSpec = planning?.mode === "off" ? undefined : createTodoListSpec();
  const toolResponseSpec = createToolResponseSpec();
  const responseSpec = outputSchema === undefined ? undefined : createResponseSpec(outputSchema);
  const own = [todoSpec, toolResponseSpec, responseSpec].filter((spec) => spec !== undefined);
  const offered = [
    ...[...given].map(([name, tool]) => toOffered(name, specOf(tool))),
    ...own.map((spec) => toOffered(spec.name, spec)),
  ];
  return { given, todoSpec, toolResponseSpec, responseSpec, offered };
}

export interface AgentTools {
  readonly byName: ReadonlyMap<string, Tool>;
  readonly offered: readonly OfferedTool[];
  /** The tools that are offered when a budget is exceeded: only the output tool. */
  readonly whenSpent: readonly OfferedTool[];
  /** The agent has only built-in tools. */
  readonly isAlone: boolean;
  readonly plans: PlanBook;
  readonly todoSpec: ToolSpec | undefined;
  readonly responseSpec: ToolSpec | undefined;
  readonly responseName: string;
  readonly outputJsonSchema: JsonSchema | undefined;
  readonly source: PageSource;
  isResponse(name: string): boolean;
  /** Whether it is a built-in tool. */
  isOwn(spec: ToolSpec): boolean;
  specOf(name: string): ToolSpec | undefined;
}

/** Binds the tools to one invoke. */
export function bindTools(set: ToolSet, plans: PlanBook, source: PageSource): AgentTools {
  const todoSpec = set.todoSpec === undefined ? undefined : withPlan(set.todoSpec, plans);
  const { responseSpec } = set;
  const own: [string, ToolSpec | undefined][] = [
    [TODO_LIST, todoSpec],
    [TOOL_RESPONSE, withSource(set.toolResponseSpec, source)],
    [RESPONSE, responseSpec],
  ];
  const byName = new Map(set.given);
  for (const [name, spec] of own) if (spec !== undefined) byName.set(name, createCallable(spec));
  return {
    byName,
    offered: set.offered,
    whenSpent: responseSpec === undefined ? [] : set.offered.filter(({ name }) => name === RESPONSE),
    isAlone: set.given.size === 0,
    plans,
    todoSpec,
    responseSpec,
    responseName: RESPONSE,
    outputJsonSchema: responseSpec === undefined ? undefined : toObjectSchema(responseSpec.inputJsonSchema),
    source,
    isOwn: (spec) => own.some(([, one]) => one === spec),
    isResponse: (name) => responseSpec !== undefined && name === RESPONSE,
    specOf: (name) => {
      const tool = byName.get(name);
      return tool === undefined ? undefined : specOf(tool);
    },
  };
}

function toOffered(name: string, spec: ToolSpec): OfferedTool {
  return { name, description: spec.description, inputSchema: toObjectSchema(spec.inputJsonSchema) };
}

/**
 * `response`: the tool by which an agent with an `outputSchema` gives its answer. The loop recognizes the tool by identity, so
 * no output of another tool can end it. Calls of it count under no budget.
 */
function createResponseSpec(outputSchema: z.ZodType): ToolSpec {
  return createToolSpec(
    {
      name: RESPONSE,
      description: "Gives the final answer and ends the work. Call it once, when everything is done.",
      schema: outputSchema,
      execute: (answer: unknown) => answer,
      isExempt: true,
    },
    {},
  );
}
