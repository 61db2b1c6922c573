/** Invokes an agent: as a turn under its own run id, or, inside a tool or a task, as a part of that. */
import { isCallEvent } from "../invoke/events.ts";
import { getToolContext } from "../definition/context.ts";
import { ToolwrightError } from "../errors.ts";
import { currentScope } from "../invoke/call-in-context.ts";
import { messageOf } from "../invoke/error-record.ts";
import type { Scope } from "../invoke/scope.ts";
import type { AgentAbout } from "../invoke/telemetry.ts";
import { traceAgentInside } from "../invoke/trace-work.ts";
import { capabilitiesOf, recordedCapabilities } from "../loop/capabilities.ts";
import { createRuntime, type OpenRuntime, useRuntime } from "../runtime/create-runtime.ts";
import { type EndedTurn, runTurn } from "../loop/run-turn.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { POSITIONS_PER_LOOP } from "../store/tables/responses.ts";
import { systemClock } from "../util/clock.ts";
import { decode, encode } from "../util/encode.ts";
import { assembleLoop, systemOf } from "./assemble-loop.ts";
import { driveAgent } from "./drive-agent.ts";
import type { Emit } from "./events.ts";
import { type StoredResult, toStoredResult } from "./stored-result.ts";
import { AGENT_TURN, type ResolvedTurn, resolveTurn } from "./resolve-turn.ts";
import type { AgentResources } from "./agent-resources.ts";
import type { InvokeOptions, InvokeResult, SmartAgentLimits } from "./options.ts";
import { readState, type StateSource } from "./read-state.ts";
import type { AgentInput } from "./state.ts";
import { emitterOf, forward, listenersOf, watchedInside, whileWatched } from "./agent-listeners.ts";
import { NO_PLAN, planIn } from "./tools/todo-list.ts";

/** `in-tool`: the agent is a tool, and always part of the run that calls the tool. */
export type InvokeLocation = "anywhere" | "in-tool";

/** @param input as `takeInput` returned it */
export async function invokeAgent(
  agent: AgentResources,
  input: AgentInput,
  invoked: InvokeOptions,
  given: OpenRuntime | undefined,
  location: InvokeLocation,
): Promise<InvokeResult> {
  const here = currentScope();
  // An explicit `runId`, or another runtime, opts out of the enclosing run.
  const isShared = location === "in-tool" || given === undefined || given.host === here?.host;
  const isInside = input.runId === undefined && isShared;
  if (here !== undefined && isInside) return invokeInside(agent, here, input, invoked);
  if (given !== undefined && agent.options.runtime !== undefined) {
    return invokeOwn(agent, given, agent.options.runtime, input, invoked);
  }
  await using runtime = createRuntime();
  return await useRuntime(runtime, (opened) => invokeOwn(agent, opened, runtime, input, invoked));
}

async function invokeOwn(
  agent: AgentResources,
  opened: OpenRuntime,
  runtime: Runtime,
  input: AgentInput,
  invoked: InvokeOptions,
): Promise<InvokeResult> {
  await runtime.ready();
  const { store } = opened.host;
  const giveUpAtMs = performance.now() + LONGEST_WAIT_MS;
  for (let ms = FIRST_PAUSE_MS; ; ms = Math.min(2 * ms, LONGEST_PAUSE_MS)) {
    const resolved = await resolveTurn(store, input, agent.memory);
    let hasStarted = false;
    try {
      return await invokeTurn(agent, opened, runtime, input, invoked, resolved, () => (hasStarted = true));
    } catch (error) {
      if (hasStarted || !isTakenByOther(error, resolved) || performance.now() > giveUpAtMs) throw error;
    }
    // The other invoke may hold the turn before it is recorded; once it is, this one is known to be a branch. Or the other
    // has the same input, and its stored result answers this one when it ends.
    await systemClock.sleep(ms, invoked.signal);
  }
}

const FIRST_PAUSE_MS = 2;
const LONGEST_PAUSE_MS = 100;
/** Turns of agents take minutes. */
const LONGEST_WAIT_MS = 600_000;

function isTakenByOther(error: unknown, { mayBecomeBranch, mayShare }: ResolvedTurn): boolean {
  if (!ToolwrightError.is(error)) return false;
  return error.code === "TOOL_RUN_CONFLICT" ? mayShare : error.code === "TOOL_RUN_TAKEN" && mayBecomeBranch;
}

interface DrivenTurn extends EndedTurn {
  readonly result: StoredResult;
  readonly waitingCalls: NonNullable<Awaited<ReturnType<typeof driveAgent>>["waitingCalls"]>;
}

async function invokeTurn(
  agent: AgentResources,
  opened: OpenRuntime,
  runtime: Runtime,
  input: AgentInput,
  invoked: InvokeOptions,
  resolved: ResolvedTurn,
  onStart: () => void,
): Promise<InvokeResult> {
  const { host } = opened;
  const { signal } = invoked;
  const { runId, inputHash, turnInput, follows, lastTurn } = resolved;
  const watched = {
    listeners: listenersOf(agent.options, invoked),
    isStreamed: invoked.stream === true,
  };
  const emit = emitterOf(host, { runId, kind: "agent", nodeId: "main" }, watched);
  const began = {
    ...turnInput,
    system: systemOf(agent, await capabilitiesOf(host, host.settings.rootDir)),
  };
  // Without listeners, the runtime need not build events.
  const stopListening =
    watched.listeners.length === 0
      ? () => undefined
      : runtime.subscribe((event) => {
          if (event.runId === runId && isCallEvent(event)) forward(host, watched, event);
        });
  try {
    const { number, budgetId, result, waitingCalls } = await runTurn<DrivenTurn>(
      opened,
      {
        runId,
        kind: AGENT_TURN,
        name: agent.options.name ?? "",
        about: aboutOf(agent),
        statusOf: ({ result }: DrivenTurn) => result.status,
        failureOf: ({ result: { status, stop } }: DrivenTurn) =>
          status === "failed"
            ? new ToolwrightError("TOOL_MODEL_FAILED", `The agent stopped without an answer: ${stop}.`)
            : undefined,
        inputHash,
        began,
        follows,
        lastTurn,
        hasOwnBudget: true,
        limits: runLimits(agent.options.limits ?? {}),
        signal,
      },
      async (turn) => {
        onStart();
        // As stored, so that a resume continues with the same values. The messages are known, and may be many.
        const stored = turn.isOwnInput ? decode(encode({ ...began, said: [] })) : turn.readBegan();
        const { system, plan, context, ancestors } = stored as typeof began;
        const setup = await assembleLoop(agent, {
          scope: turn.scope,
          messages: resolved.messages,
          hash: inputHash,
          system,
          plan,
          context,
          runIds: [...ancestors, runId],
          ownLimits: {},
          firstPosition: 0,
          signal,
          watched,
        });
        const end = await whileWatched(watched, () => driveAgent(setup));
        const result = { ...toStoredResult(end, setup), ancestors };
        if (result.status !== "waiting") turn.end(result);
        const { number, budgetId } = turn;
        return { number, budgetId, result, waitingCalls: end.waitingCalls ?? [] };
      },
      (result, turn) => ({ ...turn, result: result as StoredResult, waitingCalls: [] }),
    );
    const source = stateSourceOf(opened, resolved, { number, budgetId }, input);
    return await finish({ ...source, waitingCalls, memory: agent.memory }, result, emit);
  } catch (error) {
    if (signal?.aborted === true) emit({ type: "cancelled", reason: messageOf(signal.reason) });
    throw error;
  } finally {
    stopListening();
  }
}

function stateSourceOf(
  { host }: OpenRuntime,
  { runId, messages }: ResolvedTurn,
  { number, budgetId }: EndedTurn,
  input: AgentInput,
): Omit<StateSource, "waitingCalls" | "memory"> {
  return {
    host,
    scope: { runId, nodeId: "main", iteration: number - 1, path: String(number - 1), parentKey: "" },
    budgetId,
    turn: number,
    history: input.toolHistory,
    messages,
  };
}

/** The enclosing call or task resumes the agent, and waits when one of its calls waits. */
async function invokeInside(
  agent: AgentResources,
  scope: Scope,
  input: AgentInput,
  invoked: InvokeOptions,
): Promise<InvokeResult> {
  const inside = (): Promise<InvokeResult> => driveInside(agent, scope, input, invoked);
  return traceAgentInside(scope, aboutOf(agent), inside, ({ status }) => ({
    status,
    errorType: status === "failed" ? "TOOL_MODEL_FAILED" : undefined,
  }));
}

async function driveInside(
  agent: AgentResources,
  scope: Scope,
  input: AgentInput,
  invoked: InvokeOptions,
): Promise<InvokeResult> {
  const { host, identity } = scope;
  const watched = watchedInside(scope, listenersOf(agent.options, invoked), invoked.stream);
  const { messages, hashes } = agent.memory.recall(input.messages ?? [], input.runId);
  const signals = [invoked.signal, getToolContext()?.signal, scope.root.signal].filter(
    (one) => one !== undefined,
  );
  const firstPosition = scope.nextLoop() * POSITIONS_PER_LOOP;
  const rootDir = getToolContext()?.rootDir ?? scope.root.settings.rootDir ?? host.settings.rootDir;
  await scope.ready;
  const setup = await assembleLoop(agent, {
    scope,
    messages,
    hash: hashes.at(-1) ?? "",
    system: systemOf(
      agent,
      await recordedCapabilities(scope, rootDir, firstPosition + POSITIONS_PER_LOOP - 1),
    ),
    plan: planIn(input.plan) ?? NO_PLAN,
    context: input.context ?? null,
    runIds: [identity.runId],
    ownLimits: agent.options.limits ?? {},
    firstPosition,
    signal: signals.length === 0 ? undefined : AbortSignal.any(signals),
    watched,
  });
  const end = await whileWatched(watched, () => driveAgent(setup));
  const source = {
    host,
    scope: identity,
    budgetId: scope.budgetId,
    turn: 1,
    history: input.toolHistory ?? [],
    messages,
    waitingCalls: end.waitingCalls ?? [],
    memory: agent.memory,
  };
  return finish(source, toStoredResult(end, setup), setup.emit);
}

async function finish(source: StateSource, result: StoredResult, emit: Emit): Promise<InvokeResult> {
  const state = await readState(source, result);
  const { status, stop, content, output, outputError, budget, usage } = result;
  for (const { id, toolName, toolCallId, args } of state.pendingApprovals) {
    emit({ type: "tool_approval", status: "pending", id, toolName, toolCallId, args });
  }
  const found = output === undefined ? {} : { output: output.value };
  if (status !== "waiting") emit({ type: "finalAnswer", content, ...found });
  return {
    runId: state.runId,
    status,
    stop,
    content,
    messages: [...state.messages],
    ...found,
    ...(outputError === undefined ? {} : { outputError }),
    ...(budget === undefined ? {} : { budget }),
    metadata: { usage },
    state,
  };
}

function aboutOf({ options, model }: AgentResources): AgentAbout {
  return { name: options.name, model: model.id, provider: model.provider };
}

/** The context window limits the agent; the other limits apply to the run. */
function runLimits({
  maxContextTokens: _window,
  ...limits
}: SmartAgentLimits): Omit<SmartAgentLimits, "maxContextTokens"> {
  return limits;
}
