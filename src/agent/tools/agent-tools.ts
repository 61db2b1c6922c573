/** Everything that an agent offers its model: the tools it was given, and its own. */
import type { JsonSchema } from "../../definition/json-schema.ts";
import { toObjectSchema } from "../../definition/object-schema.ts";
import type { ToolSpec } from "../../definition/tool-spec.ts";
import { createCallable, specOf } from "../../tool/create-callable.ts";
import { offerTools } from "../../tool/offer-tools.ts";
import type { Tool } from "../../tool/tool.ts";
import type { OfferedTool } from "../../model/agent-model.ts";
import type { SmartAgentOptions } from "../options.ts";
import { RESPONSE, TODO_LIST, TOOL_RESPONSE } from "./own-names.ts";
import { createResponseSpec } from "./response.ts";
import { createTodoListSpec, type PlanBook, withPlan } from "./todo-list.ts";
import { type PageSource, createToolResponseSpec, withSource } from "./tool-response.ts";

/** What is the same for every invoke of an agent. */
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
  /** When a budget is spent: how to answer, and nothing else. */
  readonly whenSpent: readonly OfferedTool[];
  /** There are none but the agent's own. */
  readonly isAlone: boolean;
  readonly plans: PlanBook;
  readonly todoSpec: ToolSpec | undefined;
  readonly responseSpec: ToolSpec | undefined;
  readonly responseName: string;
  readonly outputJsonSchema: JsonSchema | undefined;
  readonly source: PageSource;
  isResponse(name: string): boolean;
  /** One of the agent's own. */
  isOwn(spec: ToolSpec): boolean;
  specOf(name: string): ToolSpec | undefined;
}

/** For one invoke. */
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
