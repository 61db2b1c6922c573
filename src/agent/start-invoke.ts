/** Where an invoke counts: in a turn of its own under its run id, or, inside a tool or a task, in that. */
import { isCallEvent } from "../invoke/events.ts";
import { getToolContext } from "../definition/context.ts";
import { ToolwrightError } from "../errors.ts";
import { scopeHere } from "../invoke/call-here.ts";
import { messageOf } from "../invoke/error-record.ts";
import type { Scope } from "../invoke/scope.ts";
import { capabilitiesOf, keptCapabilities } from "../loop/capabilities-part.ts";
import { createRuntime, type OpenRuntime, useRuntime } from "../runtime/create-runtime.ts";
import { runTurn } from "../loop/run-turn.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { turnOf } from "../store/tables/turns.ts";
import { systemClock } from "../util/clock.ts";
import { driveFromStart, systemOf } from "./drive-from-start.ts";
import type { Emit } from "./events.ts";
import { type KeptResult, toKept } from "./kept-result.ts";
import { AGENT_TURN, type Began, type LocatedTurn, locateTurn } from "./locate-turn.ts";
import type { Agent } from "./make-agent.ts";
import type { InvokeOptions, InvokeResult, SmartAgentLimits } from "./options.ts";
import { readState, type StatePlace } from "./read-state.ts";
import { checkInput } from "./check-input.ts";
import type { AgentInput } from "./state.ts";
import { emitterOf, forward, listenersOf, watchedInside } from "./agent-listeners.ts";
import { NO_PLAN, planIn } from "./tools/todo-list.ts";

/** Loops that are driven inside of one call have places for so many answers each. */
const ANSWERS_PER_LOOP = 1_000_000;

/** `in-tool`: it is what a tool does, and always part of the run that the tool is called in. */
export type InvokePlace = "anywhere" | "in-tool";

export async function startInvoke(
  agent: Agent,
  input: AgentInput,
  invoked: InvokeOptions,
  given: OpenRuntime | undefined,
  place: InvokePlace,
): Promise<InvokeResult> {
  checkInput(input, agent.memory);
  const here = scopeHere();
  // Who names a run of its own, or another runtime, wants no part of what goes on around it.
  const isShared = place === "in-tool" || given === undefined || given.host === here?.host;
  const isInside = input.runId === undefined && isShared;
  if (here !== undefined && isInside) return invokeInside(agent, here, input, invoked);
  if (given !== undefined && agent.options.runtime !== undefined) {
    return invokeOwn(agent, given, agent.options.runtime, input, invoked);
  }
  await using runtime = createRuntime();
  return await useRuntime(runtime, (opened) => invokeOwn(agent, opened, runtime, input, invoked));
}

async function invokeOwn(
  agent: Agent,
  opened: OpenRuntime,
  runtime: Runtime,
  input: AgentInput,
  invoked: InvokeOptions,
): Promise<InvokeResult> {
  await runtime.ready();
  const { store } = opened.host;
  const giveUpAtMs = performance.now() + LONGEST_WAIT_MS;
  for (let ms = FIRST_PAUSE_MS; ; ms = Math.min(2 * ms, LONGEST_PAUSE_MS)) {
    const located = await locateTurn(store, input, agent.memory);
    let hasBegun = false;
    try {
      return await invokeLocated(agent, opened, runtime, input, invoked, located, () => (hasBegun = true));
    } catch (error) {
      if (hasBegun || !isTakenByOther(error, located) || performance.now() > giveUpAtMs) throw error;
    }
    // The other one may have taken the turn without having recorded it yet: only then this is known to be a branch. Or it
    // has the same input, and its result is stored once it has ended.
    await systemClock.sleep(ms, invoked.signal);
  }
}

const FIRST_PAUSE_MS = 2;
const LONGEST_PAUSE_MS = 100;
/** As long as a turn of an agent may well take. */
const LONGEST_WAIT_MS = 600_000;

function isTakenByOther(error: unknown, { mayBecomeBranch, mayShare }: LocatedTurn): boolean {
  if (!ToolwrightError.is(error)) return false;
  return error.code === "TOOL_RUN_CONFLICT" ? mayShare : error.code === "TOOL_RUN_TAKEN" && mayBecomeBranch;
}

async function invokeLocated(
  agent: Agent,
  opened: OpenRuntime,
  runtime: Runtime,
  input: AgentInput,
  invoked: InvokeOptions,
  located: LocatedTurn,
  onBegun: () => void,
): Promise<InvokeResult> {
  const { host } = opened;
  const { signal } = invoked;
  const { runId, inputHash, began, follows } = located;
  const watched = {
    listeners: listenersOf(agent.options, invoked),
    isStreamed: invoked.stream === true,
  };
  const emit = emitterOf(host, { runId, kind: "agent", nodeId: "main" }, watched);
  // Without a listener no event has to be made.
  const stopListening =
    watched.listeners.length === 0
      ? () => undefined
      : runtime.subscribe((event) => {
          if (event.runId === runId && isCallEvent(event)) forward(host, watched, event);
        });
  try {
    const { number, kept, asked } = await runTurn(
      opened,
      {
        runId,
        kind: AGENT_TURN,
        inputHash,
        began: { ...began, system: systemOf(agent, await capabilitiesOf(host, host.settings.rootDir)) },
        follows,
        hasOwnBudget: true,
        limits: runLimits(agent.options.limits ?? {}),
        signal,
      },
      async (turn) => {
        onBegun();
        const { system, plan, context, ancestors } = turn.began as Began & { system: string };
        const { end, setup } = await driveFromStart(agent, {
          scope: turn.scope,
          messages: located.messages,
          hash: inputHash,
          system,
          plan,
          context,
          runIds: [...ancestors, runId],
          ownLimits: {},
          firstPlace: 0,
          signal,
          watched,
        });
        const made = toKept(end, setup);
        if (made.status !== "waiting") await turn.end(made);
        return { number: turn.number, kept: made, asked: end.asked ?? [] };
      },
      (result, turn) => ({ number: turn, kept: result as KeptResult, asked: [] }),
    );
    const place = await placeOf(opened, located, number, input);
    return await finish({ ...place, asked, memory: agent.memory }, kept, emit);
  } catch (error) {
    if (signal?.aborted === true) emit({ type: "cancelled", reason: messageOf(signal.reason) });
    throw error;
  } finally {
    stopListening();
  }
}

async function placeOf(
  { host }: OpenRuntime,
  { runId, messages }: LocatedTurn,
  turn: number,
  input: AgentInput,
): Promise<Omit<StatePlace, "asked" | "memory">> {
  const row = await host.store.read(() => turnOf(runId, turn));
  return {
    host,
    scope: { runId, nodeId: "main", iteration: turn - 1, path: String(turn - 1), parentKey: "" },
    budgetId: row?.budgetId ?? runId,
    turn,
    history: input.toolHistory,
    messages,
  };
}

/** The call or task around it is what resumes, and what waits when something in here does. */
async function invokeInside(
  agent: Agent,
  scope: Scope,
  input: AgentInput,
  invoked: InvokeOptions,
): Promise<InvokeResult> {
  const { host, identity } = scope;
  const watched = watchedInside(scope, listenersOf(agent.options, invoked), invoked.stream);
  const { messages, hashes } = agent.memory.recall(input.messages ?? []);
  const signals = [invoked.signal, getToolContext()?.signal, scope.root.signal].filter(
    (one) => one !== undefined,
  );
  const firstPlace = scope.nextLoop() * ANSWERS_PER_LOOP;
  const rootDir = getToolContext()?.rootDir ?? scope.root.settings.rootDir ?? host.settings.rootDir;
  await scope.ready;
  const { end, setup } = await driveFromStart(agent, {
    scope,
    messages,
    hash: hashes.at(-1) ?? "",
    system: systemOf(agent, await keptCapabilities(scope, rootDir, firstPlace + ANSWERS_PER_LOOP - 1)),
    plan: planIn(input.plan) ?? NO_PLAN,
    context: input.context ?? null,
    runIds: [identity.runId],
    ownLimits: agent.options.limits ?? {},
    firstPlace,
    signal: signals.length === 0 ? undefined : AbortSignal.any(signals),
    watched,
  });
  const place = {
    host,
    scope: identity,
    budgetId: scope.budgetId,
    turn: 1,
    history: input.toolHistory ?? [],
    messages,
    asked: end.asked ?? [],
    memory: agent.memory,
  };
  return finish(place, toKept(end, setup), setup.emit);
}

async function finish(place: StatePlace, kept: KeptResult, emit: Emit): Promise<InvokeResult> {
  const state = await readState(place, kept);
  const { status, stop, content, output, outputError, budget, usage } = kept;
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

/** The window is the agent's alone; the rest is the run's. */
function runLimits({
  maxContextTokens: _window,
  ...limits
}: SmartAgentLimits): Omit<SmartAgentLimits, "maxContextTokens"> {
  return limits;
}
