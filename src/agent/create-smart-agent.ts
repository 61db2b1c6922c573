/** Creates an agent. The modules that run it load on the first invoke. */
import type { z } from "zod";
import { toInputJsonSchema } from "../definition/json-schema.ts";
import { checkOptions } from "../definition/option-table.ts";
import { ToolwrightError } from "../errors.ts";
import { type OpenRuntime, createRuntime, useRuntime } from "../runtime/create-runtime.ts";
import { refusal } from "../runtime/options.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { offerTools } from "../tool/registry.ts";
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
import { ownNames } from "./tools/tool-names.ts";

const parts = lazyModule(() =>
  Promise.all([import("./agent-resources.ts"), import("./invoke-agent.ts"), import("./take-input.ts")]),
);
const generating = lazyModule(() => import("./generate.ts"));

/** `agent.invoke` in another runtime than the agent's own, for replays. Not for users. */
export const INVOKE_ON: unique symbol = Symbol.for("toolwright.agent.invoke on");

export interface ReplayableAgent {
  readonly [INVOKE_ON]: (runtime: Runtime, input: AgentInput) => Promise<InvokeResult>;
}

export interface AgentSnapshot {
  readonly state: AgentState;
  readonly runtimeHint: { readonly name: string | undefined; readonly tools: readonly string[] };
}

export interface SmartAgent<Output = unknown> {
  readonly name: string | undefined;
  /** Starts from messages, resumes a run by its id, or continues a state that `invoke` returned. */
  invoke(input: AgentInput, options?: InvokeOptions): Promise<InvokeResult<Output>>;
  /** Returns immediately, and can be awaited. `invoke` with the returned state waits until the decision is stored. */
  resolveToolApproval(state: AgentState, resolution: ToolApprovalResolution): DecidedState;
  /** A copy of the state that later invokes do not change. */
  snapshot(state: AgentState): AgentSnapshot;
  resume(snapshot: AgentSnapshot, options?: InvokeOptions): Promise<InvokeResult<Output>>;
  /** For `<Task agent>`: runs the agent inside the task, and resumes with it. */
  generate(options: GenerateOptions): Promise<GenerateResult<Output>>;
  /** The agent as a tool of another one. An agent with a name can also be passed directly. */
  asTool(options?: AgentToolOptions): Tool;
}

/**
 * An agent that calls tools until it has an answer. It keeps a plan, respects budgets, archives old results, and logs every
 * step, so that it resumes after a crash or an approval.
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
  const resources = new Lazy(async () => {
    const [{ createAgentResources }, { invokeAgent }, { takeInput }] = await parts.get();
    return { agent: createAgentResources(options), invokeAgent, takeInput };
  });
  const invokeAs = async (
    location: InvokeLocation,
    input: AgentInput,
    invoked: InvokeOptions = {},
  ): Promise<InvokeResult<never>> => {
    checkOptions(INVOKE_OPTIONS, invoked);
    // The caller may change the input after this call.
    const given = resources.value?.takeInput(input, resources.value.agent.memory) ?? asGiven(input);
    const start = async (opened?: OpenRuntime): Promise<InvokeResult<never>> => {
      await decisions.written(input);
      const { agent, invokeAgent, takeInput } = await resources.get();
      const taken = takeInput(given, agent.memory);
      return (await invokeAgent(agent, taken, invoked, opened, location)) as InvokeResult<never>;
    };
    // Taken before the first await: the caller may dispose of the runtime once this function has returned a promise.
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
        throw refusal("snapshot", "must be a value that snapshot(state) returned");
      checkState(snapshot.state);
      return invoke(snapshot.state, invoked);
    },
    generate: async (how) => (await generating.get()).generate(invoke, how),
    asTool: (how) => createAgentTool(invokeInTool, how, name),
  };
  Object.defineProperty(agent, INVOKE_ON, {
    value: (runtime: Runtime, input: AgentInput): Promise<InvokeResult> =>
      useRuntime(runtime, async (opened) => {
        const { agent: own, invokeAgent, takeInput } = await resources.get();
        const agentHere = { ...own, options: { ...options, runtime } };
        return invokeAgent(agentHere, takeInput(input, own.memory), {}, opened, "anywhere");
      }),
  });
  return name === undefined ? agent : asToolNamed(agent, () => createAgentTool(invokeInTool, {}, name));
}

/** Lets another agent use this one as a tool. The tool is created on first use. */
function asToolNamed<Agent extends object>(agent: Agent, make: () => Tool): Agent {
  let tool: Tool | undefined;
  return withOrigin(agent, () => (tool ??= make()));
}

/** @throws TOOL_ALREADY_REGISTERED when a tool has the name of a built-in tool of the agent, TOOL_SCHEMA_UNREPRESENTABLE */
function checkToolNames(options: SmartAgentOptions): string[] {
  const { tools = [], outputSchema } = options;
  if (outputSchema !== undefined) toInputJsonSchema(outputSchema, "outputSchema");
  const given = offerTools(tools);
  const own = ownNames(options);
  const taken = own.find((name) => given.has(name));
  if (taken === undefined) return [...given.keys(), ...own];
  throw new ToolwrightError("TOOL_ALREADY_REGISTERED", `The agent has a built-in tool named "${taken}".`, {
    hint: "Give your tool another name.",
    details: { tool: taken },
  });
}

/** Decides only requests of the run in the state: a forged state reaches no other run. */
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
