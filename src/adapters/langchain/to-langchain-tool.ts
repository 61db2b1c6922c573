/**
 * Tools as LangChain takes them. Called with a tool call they answer with a tool message, errors included; called with plain
 * arguments they return the plain output and throw. Control flow of LangGraph passes through: what `interrupt` throws, and
 * the commands and messages that a tool returns.
 */
import type { CallbackManagerForToolRun } from "@langchain/core/callbacks/manager";
import { ToolMessage } from "@langchain/core/messages/tool";
import { patchConfig, pickRunnableConfigKeys } from "@langchain/core/runnables";
import { AsyncLocalStorageProviderSingleton } from "@langchain/core/singletons";
import type { DynamicStructuredTool, ToolRuntime } from "@langchain/core/tools";
import { fromObjectInput, toObjectSchema } from "../../definition/object-schema.ts";
import { checkOptions } from "../../definition/option-table.ts";
import type { CallOptions } from "../../invoke/call.ts";
import { callHere } from "../../invoke/call-here.ts";
import type { HostLoop } from "../../invoke/host-loop.ts";
import type { Outcome } from "../../invoke/outcome.ts";
import { specOf } from "../../tool/create-callable.ts";
import type { ToolLike } from "../../tool/from-tool.ts";
import { errorOf, toModelAnswer } from "../../tool/model-answer.ts";
import { offerTools, type ToolSource } from "../../tool/offer-tools.ts";
import { defaultRegistry } from "../../tool/registry.ts";
import { type Tool, withOrigin } from "../../tool/tool.ts";
import { commandIn, isControlFlow, isDirect, packOutput, unpackOutput } from "./graph-objects.ts";
import { Interrupts, type LoopConfig, placeOf, WAITING } from "./graph-task.ts";
import { LANGCHAIN_OPTIONS, type LangChainToolOptions } from "./options.ts";
import { contentAndArtifact, toContent } from "./tool-content.ts";
import { UncheckedTool } from "./unchecked-tool.ts";

/**
 * What a tool finds in its `ctx` in a loop of LangChain: the configuration that a plain tool is called with. In a graph it
 * also has the state, the context, the store and the writer.
 * @example
 * execute: (args, ctx: ToolContext<LangChainContext<State, { userId: string }>>) => ctx.runnableConfig.context.userId
 */
export interface LangChainContext<State = unknown, Context = unknown> {
  readonly runnableConfig: ToolRuntime<State, Context>;
}

/**
 * @example
 * const agent = createAgent({ model, tools: [toLangChainTool(placeOrder)] });
 * await runtime.run({ runId: "monday" }, () => agent.invoke({ messages }));
 */
export function toLangChainTool(tool: ToolLike, options: LangChainToolOptions = {}): DynamicStructuredTool {
  return toLangChainTools([tool], options)[0] as DynamicStructuredTool;
}

/** @param source default: the tools of the global registry */
export function toLangChainTools(
  source: ToolSource = defaultRegistry,
  options: LangChainToolOptions = {},
): DynamicStructuredTool[] {
  checkOptions(LANGCHAIN_OPTIONS, options);
  return [...offerTools(source)].map(([name, tool]) => convert(name, tool, options));
}

function convert(name: string, tool: Tool, options: LangChainToolOptions): DynamicStructuredTool {
  const spec = specOf(tool);
  const { inputJsonSchema } = spec;
  const call = async (
    input: unknown,
    manager: CallbackManagerForToolRun | undefined,
    config: LoopConfig,
    interrupts: Interrupts,
    twin: number,
  ): Promise<unknown> => {
    const { toolCall, signal } = config;
    const id = idOf(config);
    const how: CallOptions = {
      toolCallId: id,
      modelName: name,
      signal,
      ...placeOf(config, { name, args: toolCall?.args ?? input, id }, twin),
      retriesErrors: options.errors === "throw",
      hostLoop: hostLoopOf(interrupts),
      onYield: (item) => void manager?.handleToolEvent(item).catch(() => undefined),
      capabilities: { runnableConfig: config },
    };
    const make = (decision?: CallOptions["messageDecision"]): Promise<Outcome> =>
      callHere(spec, fromObjectInput(inputJsonSchema, input), { ...how, messageDecision: decision });
    const outcome = await whenDecided(await make(), make, options, interrupts);
    signal?.throwIfAborted();
    if (outcome.status === "success" && isDirect(outcome.output)) return outcome.output;
    const isFailure = outcome.status === "error" && options.errors === "throw";
    if (isFailure || (toolCall?.id === undefined && outcome.status !== "success"))
      throw errorOf(spec, outcome);
    return toAnswer(outcome, toolCall?.id);
  };
  const toAnswer = (outcome: Outcome, toolCallId: string | undefined): unknown => {
    const output = outcome.status === "success" ? outcome.output : undefined;
    const isPair = made.responseFormat === "content_and_artifact" && outcome.status === "success";
    const pair = isPair ? contentAndArtifact(name, output) : undefined;
    if (toolCallId === undefined) return pair === undefined ? output : pair[0];
    const shown =
      outcome.status === "success" && pair !== undefined ? { ...outcome, output: pair[0] } : outcome;
    const { text, isError } = toModelAnswer(spec, shown);
    return new ToolMessage({
      content: shown.status === "success" ? toContent(shown.output, shown.note, text) : text,
      artifact: pair === undefined ? output : pair[1],
      tool_call_id: toolCallId,
      name,
      status: isError ? "error" : "success",
      ...(outcome.status === "pending" ? { additional_kwargs: { [WAITING]: true } } : {}),
    });
  };
  const made = new UncheckedTool({
    name,
    description: tool.description,
    schema: toObjectSchema(inputJsonSchema) as object,
    returnDirect: spec.terminal !== false,
    responseFormat: options.responseFormat ?? "content",
    func: (input: unknown, manager, config: LoopConfig = {}) => {
      const child = manager?.getChild();
      const interrupts = new Interrupts(
        (child === undefined ? config : patchConfig(config, { callbacks: child })) as LoopConfig,
      );
      const own = interrupts.config;
      // As LangChain's own `tool` does: what the tool calls belongs to its run, and finds the graph around it.
      return AsyncLocalStorageProviderSingleton.runWithConfig(pickRunnableConfigKeys(own), () =>
        interrupts.amongTwins(idOf(own), (twin) =>
          interrupts.inOrder(() => call(input, manager, own, interrupts, twin)),
        ),
      );
    },
  });
  return withOrigin(made, tool);
}

function idOf({ toolCall, toolCallId }: LoopConfig): string | undefined {
  return toolCall?.id ?? toolCallId;
}

function hostLoopOf(interrupts: Interrupts): HostLoop {
  return {
    onThrow: (thrown) => (isControlFlow(thrown) ? (commandIn(thrown) ?? "suspend") : undefined),
    pack: packOutput,
    unpack: unpackOutput,
    mark: (state) => interrupts.mark(state),
    onReplay: (mark) => interrupts.skip(mark),
    onEnter: async ({ mark, isApproved }) => {
      if (mark !== undefined) interrupts.skip(mark);
      else if (isApproved) await interrupts.leaveEarlierAnswers();
    },
  };
}

/**
 * Asks the program what to do about a call that waits. A program that was given an answer by `interrupt`, and has not
 * decided the request, is asked again: then the graph stops again.
 */
async function whenDecided(
  first: Outcome,
  make: (decision?: CallOptions["messageDecision"]) => Promise<Outcome>,
  { onPending }: LangChainToolOptions,
  interrupts: Interrupts,
): Promise<Outcome> {
  let outcome = first;
  if (onPending === undefined) return outcome;
  while (outcome.status === "pending") {
    const before = interrupts.count;
    const answer = await onPending(outcome.approval);
    outcome = await make(decisionIn(answer));
    if (interrupts.count === before) break;
  }
  return outcome;
}

/** Counts only where the runtime was told to trust the messages of a loop. */
function decisionIn(answer: unknown): CallOptions["messageDecision"] {
  if (typeof answer !== "object" || answer === null || !("approved" in answer)) return undefined;
  const reason = "comment" in answer && typeof answer.comment === "string" ? answer.comment : undefined;
  return { approved: answer.approved === true, reason };
}
