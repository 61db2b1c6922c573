/** Runs the tool calls of one response, and applies them to the agent: its plan, its output, its end. */
import { fromObjectInput, isWrapped } from "../definition/object-schema.ts";
import type { ToolSpec } from "../definition/tool-spec.ts";
import type { ToolwrightError } from "../errors.ts";
import { storableUnparsedInput, storableOutput } from "../invoke/storable.ts";
import { type EndedCall, type RequestedCall, runCalls } from "../loop/run-calls.ts";
import { saysError } from "../tool/model-answer.ts";
import { parseInput } from "../tool/parse-input.ts";
import {
  type CallResult,
  errorResult,
  keysOf,
  pendingApprovals,
  resultOf,
  terminalCallIn,
  truncatedCall,
} from "../loop/call-results.ts";
import type { AgentMessage } from "../model/messages.ts";
import { overBudget, resultFormat } from "./result-messages.ts";
import type { AgentSetup } from "./drive-agent.ts";
import type { AgentEventDetails } from "../invoke/events.ts";
import type { ModelAnswer, ModelCall } from "../model/agent-model.ts";
import type { AgentTools } from "./tools/agent-tools.ts";

export interface FinishedCalls {
  /** In the order of the calls, without pending ones. */
  readonly results: readonly CallResult<AgentMessage>[];
  readonly isWaiting: boolean;
  /** The executionIds of all calls, in the order of the response. */
  readonly executionIds: readonly string[];
  /** The first valid output. */
  readonly output: { readonly value: unknown } | undefined;
  readonly isTerminal: boolean;
  /** The model gave an invalid output. */
  readonly hasMissed: boolean;
  readonly problem: string;
}

/** Default number of parallel calls of one response. */
const PARALLEL = 8;

/** @param withdrawn the exceeded budget: only the output tool may run */
export async function runToolCalls(
  setup: AgentSetup,
  answer: ModelAnswer,
  withdrawn: string | undefined,
): Promise<FinishedCalls> {
  const { scope, tools, budget, signal, emit } = setup;
  const requested = answer.calls.map((call) => toRequested(call, tools));
  const refused = new Map<RequestedCall, CallResult<AgentMessage>>();
  const refuse = (call: RequestedCall, error: ToolwrightError): void => {
    refused.set(call, errorResult(error, resultFormat(call, Infinity)));
  };
  let left = budget.callsLeft;
  for (const call of requested) {
    const isExempt = tools.isResponse(call.name);
    if (answer.finish !== "done") refuse(call, truncatedCall(call.name, "answer"));
    else if (withdrawn !== undefined && !isExempt) refuse(call, overBudget(call, withdrawn));
    else if (!isExempt && tools.byName.has(call.name) && (left -= 1) < 0) {
      refuse(call, overBudget(call, "maxToolCalls"));
    }
  }
  const running = requested.filter((call) => !refused.has(call));
  // Several results share the limit; each share is at least a useful minimum, or the limit itself where that is less.
  const maxChars = Math.max(
    Math.min(MIN_RESULT_CHARS, setup.maxResultChars),
    Math.floor(setup.maxResultChars / Math.max(1, Math.ceil(running.length / 2))),
  );
  tools.source.maxChars = maxChars;
  const ended = await runCalls(running, {
    scope,
    tools: tools.byName,
    maxParallel: budget.maxParallel ?? PARALLEL,
    signal,
    onStart: (call) => emit(startOf(call, setup)),
    onEnd: (one) => {
      emit(endOf(one, setup));
      note(one, setup);
    },
    // A change of the plan builds on the previous one, even if that was replayed.
    inOrder: tools.todoSpec,
  });
  const byCall = new Map<RequestedCall, EndedCall>(ended.map((one) => [one.call, one]));
  const { secret } = scope.host.store;
  return {
    results: requested.flatMap((call) => {
      const one = byCall.get(call);
      if (one === undefined) return refused.get(call) ?? [];
      // Pages already respect the limit.
      const isOwn = one.spec !== undefined && tools.isOwn(one.spec);
      return resultOf(one, secret, resultFormat(call, isOwn ? Infinity : maxChars)) ?? [];
    }),
    isWaiting: pendingApprovals(ended).length > 0,
    executionIds: keysOf(ended),
    output: ended.map((one) => outputOf(one, tools)).find((found) => found !== undefined),
    isTerminal: terminalCallIn(ended) !== undefined,
    ...missOf(ended, tools),
  };
}

const MIN_RESULT_CHARS = 1_000;

function toRequested({ id, name, arguments: text }: ModelCall, tools: AgentTools): RequestedCall {
  const input = parseInput(text);
  if (input === undefined) return { id, name, input: {}, malformed: text };
  return { id, name, input: input.value ?? nothingFor(tools.specOf(name)), malformed: undefined };
}

/** Models send `null` for no arguments; only a tool with a non-object input can mean `null` itself. */
function nothingFor(spec: ToolSpec | undefined): unknown {
  return spec !== undefined && isWrapped(spec.inputJsonSchema) ? null : {};
}

/** Counts the call, and applies its change of the plan. */
function note(ended: EndedCall, { tools, budget, emit }: AgentSetup): void {
  if (ended.spec === undefined) return;
  const { spec, outcome } = ended;
  const hasRun = outcome.status === "error" || (outcome.status === "success" && !outcome.fromCache);
  if (hasRun && !spec.isExempt) budget.countCall(outcome.status === "success" ? outcome.output : undefined);
  if (spec !== tools.todoSpec || outcome.status !== "success") return;
  if (!tools.plans.note(outcome.output) && saysError(outcome.output)) return;
  const { operation } = outcome.output as { operation?: string };
  emit({ type: "plan", source: "manage_todo_list", operation: operation ?? "read", ...tools.plans.plan });
}

function outputOf(ended: EndedCall, tools: AgentTools): { value: unknown } | undefined {
  if (ended.spec === undefined || ended.spec !== tools.responseSpec) return undefined;
  return ended.outcome.status === "success" ? { value: ended.outcome.output } : undefined;
}

function missOf(ended: readonly EndedCall[], tools: AgentTools): { hasMissed: boolean; problem: string } {
  for (const one of ended) {
    if (one.spec === undefined || !tools.isResponse(one.call.name)) continue;
    if (one.outcome.status === "error") return { hasMissed: true, problem: one.outcome.error.message };
  }
  return { hasMissed: false, problem: "" };
}

function startOf(call: RequestedCall, { tools, scope }: AgentSetup): AgentEventDetails {
  const spec = tools.specOf(call.name);
  const args =
    spec === undefined
      ? call.input
      : storableUnparsedInput(
          spec,
          fromObjectInput(spec.inputJsonSchema, call.input),
          scope.host.store.secret,
        );
  return { type: "tool_call", phase: "start", name: call.name, id: call.id, args };
}

function endOf(ended: EndedCall, { scope }: AgentSetup): AgentEventDetails {
  const { id, name } = ended.call;
  const common = { type: "tool_call" as const, name, id };
  if (ended.spec === undefined) return { ...common, phase: "error", error: { message: ended.error.message } };
  const { outcome, spec } = ended;
  const executionId = outcome.key ?? "";
  if (outcome.status === "pending") return { ...common, executionId, phase: "skipped" };
  if (outcome.status !== "success") {
    return { ...common, executionId, phase: "error", error: { message: outcome.error.message } };
  }
  const result = storableOutput(spec, ended.args, outcome.output, scope.host.store.secret);
  return {
    ...common,
    executionId,
    phase: outcome.replayed || outcome.fromCache ? "skipped" : "success",
    result,
  };
}
