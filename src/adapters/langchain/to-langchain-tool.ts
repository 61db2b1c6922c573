/**
 * Converts tools for LangChain. Invoked with a tool call, they return a tool message, even for errors. Invoked with
 * plain arguments, they return the output or throw. LangGraph's control flow passes through: exceptions of
 * `interrupt`, and commands and messages that a tool returns.
 */
import type { CallbackManagerForToolRun } from "@langchain/core/callbacks/manager";
import { ToolMessage } from "@langchain/core/messages/tool";
import { patchConfig, pickRunnableConfigKeys } from "@langchain/core/runnables";
import { AsyncLocalStorageProviderSingleton } from "@langchain/core/singletons";
import { DynamicStructuredTool, type ToolRuntime } from "@langchain/core/tools";
import { fromObjectInput, toObjectSchema } from "../../definition/object-schema.ts";
import { checkOptions } from "../../definition/option-table.ts";
import type { CallOptions } from "../../invoke/call.ts";
import { callInContext } from "../../invoke/call-in-context.ts";
import type { HostLoop } from "../../invoke/host-loop.ts";
import type { Outcome } from "../../invoke/outcome.ts";
import { specOf } from "../../tool/create-callable.ts";
import type { ToolLike } from "../../tool/from-tool.ts";
import { errorOf, toModelAnswer } from "../../tool/model-answer.ts";
import type { ToolSource } from "../../tool/from-tool.ts";
import { defaultRegistry, offerTools } from "../../tool/registry.ts";
import { type Tool, withOrigin } from "../../tool/tool.ts";
import { commandIn, isControlFlow, isDirect, packOutput, unpackOutput } from "./graph-objects.ts";
import { callPosition, Interrupts, type LoopConfig, WAITING } from "./graph-task.ts";
import { LANGCHAIN_OPTIONS, type LangChainToolOptions } from "./options.ts";
import { contentAndArtifact, toContent } from "./tool-content.ts";

/**
 * The capabilities of a tool in a LangChain loop: the configuration that a plain tool receives. In a graph it also
 * has the state, the context, the store and the writer.
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
    const callOptions: CallOptions = {
      toolCallId: id,
      modelName: name,
      signal,
      ...callPosition(config, { name, args: toolCall?.args ?? input, id }, twin),
      retriesErrors: options.errors === "throw",
      hostLoop: hostLoopOf(interrupts),
      onYield: (item) => void manager?.handleToolEvent(item).catch(() => undefined),
      capabilities: { runnableConfig: config },
    };
    const run = (decision?: CallOptions["messageDecision"]): Promise<Outcome> =>
      callInContext(spec, fromObjectInput(inputJsonSchema, input), {
        ...callOptions,
        messageDecision: decision,
      });
    const outcome = await handlePending(await run(), run, options, interrupts);
    signal?.throwIfAborted();
    if (outcome.status === "success" && isDirect(outcome.output)) return outcome.output;
    const isFailure = outcome.status === "error" && options.errors === "throw";
    if (isFailure || (toolCall?.id === undefined && outcome.status !== "success"))
      throw errorOf(spec, outcome);
    return toAnswer(outcome, toolCall?.id);
  };
  const toAnswer = (outcome: Outcome, toolCallId: string | undefined): unknown => {
    const output = outcome.status === "success" ? outcome.output : undefined;
    const isPair = converted.responseFormat === "content_and_artifact" && outcome.status === "success";
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
  const converted = new UncheckedTool({
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
      // As LangChain's own `tool` does: inner calls belong to this run and find the graph around it.
      return AsyncLocalStorageProviderSingleton.runWithConfig(pickRunnableConfigKeys(own), () =>
        interrupts.amongTwins(idOf(own), (twin) =>
          interrupts.inOrder(() => call(input, manager, own, interrupts, twin)),
        ),
      );
    },
  });
  return withOrigin(converted, tool);
}

/**
 * LangChain does not validate the input of this tool, since our pipeline validates and logs it. The model still sees
 * the schema and the response format; the returned message already contains content and artifact.
 */
class UncheckedTool extends DynamicStructuredTool {
  /** LangChain routes every kind of call through this method. */
  override call: DynamicStructuredTool["call"] = (input, config, tags) => {
    const unchecked = Object.create(this, {
      schema: { value: {} },
      responseFormat: { value: "content" },
    }) as this;
    return super.call.call(unchecked, input, config, tags);
  };
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
      else if (isApproved) await interrupts.skipEarlierAnswers();
    },
  };
}

/**
 * Passes a pending approval to `onPending`, then makes the call again. If the program answered with `interrupt` but
 * the request is still pending, `onPending` runs again and stops the graph again.
 */
async function handlePending(
  first: Outcome,
  run: (decision?: CallOptions["messageDecision"]) => Promise<Outcome>,
  { onPending }: LangChainToolOptions,
  interrupts: Interrupts,
): Promise<Outcome> {
  let outcome = first;
  if (onPending === undefined) return outcome;
  while (outcome.status === "pending") {
    const before = interrupts.count;
    const answer = await onPending(outcome.approval);
    outcome = await run(decisionIn(answer));
    if (interrupts.count === before) break;
  }
  return outcome;
}

/** The decision applies only if the runtime is configured to trust the messages of a loop. */
function decisionIn(answer: unknown): CallOptions["messageDecision"] {
  if (typeof answer !== "object" || answer === null || !("approved" in answer)) return undefined;
  const reason = "comment" in answer && typeof answer.comment === "string" ? answer.comment : undefined;
  return { approved: answer.approved === true, reason };
}
