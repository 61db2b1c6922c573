/** Makes an agent. What it needs to run is loaded when it is first invoked. */
import type { z } from "zod";
import { toInputJsonSchema } from "../definition/json-schema.ts";
import { checkOptions } from "../definition/option-table.ts";
import { ToolwrightError } from "../errors.ts";
import { type OpenRuntime, createRuntime, useRuntime } from "../runtime/create-runtime.ts";
import { refusal } from "../runtime/options.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { offerTools } from "../tool/offer-tools.ts";
import { type Tool, withOrigin } from "../tool/tool.ts";
import { Lazy, lazyModule } from "../util/lazy.ts";
import { Decisions, type DecidedState, type ToolApprovalResolution } from "./decided-state.ts";
import type { GenerateOptions, GenerateResult } from "./generate.ts";
import {
  AGENT_OPTIONS,
  INVOKE_OPTIONS,
  type InvokeOptions,
  type InvokeResult,
  type SmartAgentOptions,
} from "./options.ts";
import { type AgentInput, type AgentState, asGiven, checkState } from "./state.ts";
import type { InvokeLocation } from "./invoke-agent.ts";
import { type AgentToolOptions, createAgentTool } from "./sub-agent.ts";
import { ownNames } from "./tools/own-names.ts";

const parts = lazyModule(() => Promise.all([import("./agent-resources.ts"), import("./invoke-agent.ts")]));
const generating = lazyModule(() => import("./generate.ts"));

export interface AgentSnapshot {
  readonly state: AgentState;
  readonly runtimeHint: { readonly name: string | undefined; readonly tools: readonly string[] };
}

export interface SmartAgent<Output = unknown> {
  readonly name: string | undefined;
  /** Something to begin with, a run to go on with, or a state that `invoke` returned. */
  invoke(input: AgentInput, options?: InvokeOptions): Promise<InvokeResult<Output>>;
  /** Returns at once, and can be awaited. `invoke` with what it returns waits until the decision is on record. */
  resolveToolApproval(state: AgentState, resolution: ToolApprovalResolution): DecidedState;
  /** A copy that nothing changes any more. */
  snapshot(state: AgentState): AgentSnapshot;
  resume(snapshot: AgentSnapshot, options?: InvokeOptions): Promise<InvokeResult<Output>>;
  /** What `<Task agent>` asks of an agent: it works in the task, and goes on with it. */
  generate(options: GenerateOptions): Promise<GenerateResult<Output>>;
  /** The agent as a tool of another one. An agent with a name can also be given as it is. */
  asTool(options?: AgentToolOptions): Tool;
}

/**
 * An agent that works with tools until it has an answer: with a plan, with budgets, with old results archived, and on
 * record, so that it goes on after a crash or a person's decision.
 *
 * @example
 * const agent = createSmartAgent({ model, tools: [search], runtime });
 * const { content, state } = await agent.invoke({ messages: [{ role: "user", content: "What is new?" }] });
 */
export function createSmartAgent<Output extends z.ZodType = z.ZodType>(
  options: SmartAgentOptions<Output>,
): SmartAgent<z.output<Output>> {
  checkOptions(AGENT_OPTIONS, options);
  const toolNames = checkToolNames(options);
  const decisions = new Decisions();
  const made = new Lazy(async () => {
    const [{ createAgentResources }, { invokeAgent }] = await parts.get();
    return { agent: createAgentResources(options), invokeAgent };
  });
  const invokeAs = async (
    place: InvokeLocation,
    input: AgentInput,
    invoked: InvokeOptions = {},
  ): Promise<InvokeResult<never>> => {
    checkOptions(INVOKE_OPTIONS, invoked);
    const given = asGiven(input);
    const start = async (opened?: OpenRuntime): Promise<InvokeResult<never>> => {
      await decisions.written(input);
      const { agent, invokeAgent } = await made.get();
      return (await invokeAgent(agent, given, invoked, opened, place)) as InvokeResult<never>;
    };
    // Taken before anything is awaited: its maker may dispose of it as soon as this function has returned a promise.
    return options.runtime === undefined ? start() : useRuntime(options.runtime, start);
  };
  const invoke = (input: AgentInput, invoked?: InvokeOptions): Promise<InvokeResult<never>> =>
    invokeAs("anywhere", input, invoked);
  const invokeInTool = (input: AgentInput): Promise<InvokeResult<never>> => invokeAs("in-tool", input);
  const { name } = options;
  const agent: SmartAgent<z.output<Output>> = {
    name,
    invoke,
    resolveToolApproval: (state, resolution) =>
      decisions.decide(state, resolution, () => write(options.runtime, state.runId, resolution)),
    snapshot: (state) => {
      checkState(state);
      return {
        state: JSON.parse(JSON.stringify(state)) as AgentState,
        runtimeHint: { name, tools: toolNames },
      };
    },
    resume: async (snapshot, invoked) => {
      if (snapshot?.state === undefined)
        throw refusal("snapshot", "must be one that snapshot(state) has returned");
      checkState(snapshot.state);
      return invoke(snapshot.state, invoked);
    },
    generate: async (how) => (await generating.get()).generate(invoke, how),
    asTool: (how) => createAgentTool(invokeInTool, how, name),
  };
  return name === undefined ? agent : asToolNamed(agent, () => createAgentTool(invokeInTool, {}, name));
}

/** What makes it one of the tools of another agent. Made when it is asked for. */
function asToolNamed<Agent extends object>(agent: Agent, make: () => Tool): Agent {
  let tool: Tool | undefined;
  return withOrigin(agent, () => (tool ??= make()));
}

/** @throws TOOL_ALREADY_REGISTERED when a tool has the name of one of the agent's own, TOOL_SCHEMA_UNREPRESENTABLE */
function checkToolNames(options: SmartAgentOptions): string[] {
  const { tools = [], outputSchema } = options;
  if (outputSchema !== undefined) toInputJsonSchema(outputSchema, "outputSchema");
  const given = offerTools(tools);
  const own = ownNames(options);
  const taken = own.find((name) => given.has(name));
  if (taken === undefined) return [...given.keys(), ...own];
  throw new ToolwrightError("TOOL_ALREADY_REGISTERED", `The agent has a tool named "${taken}" of its own.`, {
    hint: "Give your tool another name.",
    details: { tool: taken },
  });
}

/** Only a request of the state's own run is decided: a state that was tampered with reaches no other. */
async function write(
  given: Runtime | undefined,
  runId: string,
  resolution: ToolApprovalResolution,
): Promise<void> {
  const { id, ...decision } = resolution;
  const decide = async (runtime: Runtime): Promise<void> => {
    const requests = await runtime.approvals({ runId });
    if (!requests.some((request) => request.id === id)) {
      throw new ToolwrightError(
        "TOOL_APPROVAL_NOT_FOUND",
        `Run "${runId}" has no approval request "${id}".`,
        {
          details: { approvalId: id, runId },
        },
      );
    }
    await runtime.resolveToolApproval(id, decision);
  };
  if (given !== undefined) return decide(given);
  await using runtime = createRuntime();
  await decide(runtime);
}
