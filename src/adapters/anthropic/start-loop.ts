/** Starts a loop in a turn of its run, or, inside a tool or a task, in the scope of that. */
import { randomUUID } from "node:crypto";
import type { MessageCreateParamsBase } from "@anthropic-ai/sdk/resources/messages";
import { getToolContext } from "../../definition/context.ts";
import { ToolwrightError } from "../../errors.ts";
import { currentScope } from "../../invoke/call-in-context.ts";
import { createEmitter, sourceOf } from "../../invoke/deliver-event.ts";
import { isCallEvent } from "../../invoke/events.ts";
import { recordedResponsesOf } from "../../loop/recorded-responses.ts";
import type { Scope } from "../../invoke/scope.ts";
import type { AgentAbout } from "../../invoke/telemetry.ts";
import { traceAgentInside } from "../../invoke/trace-work.ts";
import { POSITIONS_PER_LOOP } from "../../store/tables/responses.ts";
import { lastTurn } from "../../store/tables/turns.ts";
import { capabilitiesOf, recordedCapabilities } from "../../loop/capabilities.ts";
import { withCapabilities } from "../../runtime/capabilities-file.ts";
import { createRuntime, type OpenRuntime, useRuntime } from "../../runtime/create-runtime.ts";
import { refusal } from "../../runtime/options.ts";
import { runTurn } from "../../loop/run-turn.ts";
import { specOf } from "../../tool/create-callable.ts";
import { defaultRegistry, offerTools } from "../../tool/registry.ts";
import type { Tool } from "../../tool/tool.ts";
import { canonicalText } from "../../util/canonical.ts";
import { decode } from "../../util/encode.ts";
import { sha256 } from "../../util/hash.ts";
import type { Container } from "./container.ts";
import { driveLoop, type LoopEnd } from "./drive-loop.ts";
import { fromStoredResult, hasEnded, type StoredResult, toResult, toStoredResult } from "./loop-result.ts";
import type { AgentLoopOptions, AgentLoopResult, LoopKind } from "./options.ts";
import { toAnthropicTools } from "./to-anthropic-tool.ts";

const STATUSES: ReadonlySet<string> = new Set(["complete", "failed", "waiting"]);

export async function startLoop(
  kind: LoopKind,
  options: AgentLoopOptions,
  given: OpenRuntime | undefined,
): Promise<AgentLoopResult> {
  const tools = offerTools(options.tools ?? defaultRegistry);
  checkTerminals(tools.values());
  const here = currentScope();
  // An explicit `runId` or another runtime opts out of the enclosing run.
  const isInside = options.runId === undefined && (given === undefined || given.host === here?.host);
  if (here !== undefined && isInside) return runInside(here, options, tools);
  if (given !== undefined) return runOwn(kind, given, options, tools);
  await using runtime = createRuntime();
  return await useRuntime(runtime, (opened) => runOwn(kind, opened, { ...options, runtime }, tools));
}

/** The enclosing call or task resumes the loop, and waits if a call of the loop waits for approval. */
async function runInside(
  scope: Scope,
  options: AgentLoopOptions,
  tools: ReadonlyMap<string, Tool>,
): Promise<AgentLoopResult> {
  const inside = (): Promise<AgentLoopResult> => driveInside(scope, options, tools);
  return traceAgentInside(scope, aboutOf(options), inside, ({ status }) => ({
    status,
    errorType: status === "failed" ? "TOOL_MODEL_FAILED" : undefined,
  }));
}

async function driveInside(
  scope: Scope,
  options: AgentLoopOptions,
  tools: ReadonlyMap<string, Tool>,
): Promise<AgentLoopResult> {
  const signals = [options.signal, getToolContext()?.signal, scope.root.signal].filter(
    (signal) => signal !== undefined,
  );
  const firstPosition = scope.nextLoop() * POSITIONS_PER_LOOP;
  const rootDir = getToolContext()?.rootDir ?? scope.root.settings.rootDir ?? scope.host.settings.rootDir;
  const end = await drive(scope, options, tools, {
    // The last position of the loop stores the inventory; no loop has that many responses.
    system: withInventory(
      options.system,
      await recordedCapabilities(scope, rootDir, firstPosition + POSITIONS_PER_LOOP - 1),
    ),
    firstPosition,
    signal: signals.length === 0 ? undefined : AbortSignal.any(signals),
  });
  return toResult(end, toStoredResult(end, scope.host.store.secret), scope.identity.runId);
}

interface Began {
  /** The number of messages at the start. */
  readonly count: number;
  readonly hash: string;
  readonly system: System;
  /** The container of the previous turn. */
  readonly container?: Container | undefined;
}

async function runOwn(
  kind: LoopKind,
  runtime: OpenRuntime,
  options: AgentLoopOptions,
  tools: ReadonlyMap<string, Tool>,
): Promise<AgentLoopResult> {
  const { messages, limits, signal, onEvent } = options;
  const { host } = runtime;
  const system = withInventory(options.system, await capabilitiesOf(host, host.settings.rootDir));
  const runId = options.runId ?? randomUUID();
  const inputHash = hashOf(messages);
  const container = kind === "chat" ? await containerOfLastTurn(host, runId) : undefined;
  const began: Began = {
    count: messages.length,
    hash: inputHash,
    system,
    ...(container === undefined ? {} : { container }),
  };
  const stopListening =
    onEvent &&
    options.runtime?.subscribe((event) =>
      event.runId === runId && isCallEvent(event) ? onEvent(event) : undefined,
    );
  try {
    return await runTurn(
      runtime,
      {
        runId,
        kind,
        name: options.name ?? kind,
        // Only for workers, which know the loop by its name.
        ...(options.name === undefined ? {} : { input: { messages } }),
        about: aboutOf(options),
        statusOf: ({ status }) => status,
        failureOf: ({ status, reason, error }) =>
          status === "failed" ? (error instanceof Error ? error : failed(reason)) : undefined,
        inputHash,
        began,
        // A chat is identified by its first messages; the caller may have dropped any of the later ones.
        continues: (first) => {
          const { count, hash } = first as Began;
          return kind === "chat" && hashOf(messages.slice(0, count)) === hash;
        },
        limits,
        signal,
      },
      async (turn) => {
        const stored = turn.readBegan() as Began;
        const end = await drive(turn.scope, options, tools, {
          system: stored.system,
          container: stored.container,
          firstPosition: 0,
          signal,
        });
        const result = toStoredResult(end, turn.scope.host.store.secret);
        if (hasEnded(end)) turn.end(result);
        return toResult(end, result, runId);
      },
      (stored) => fromStoredResult(stored as StoredResult, messages, runId),
    );
  } finally {
    stopListening?.();
  }
}

async function drive(
  scope: Scope,
  options: AgentLoopOptions,
  tools: ReadonlyMap<string, Tool>,
  how: Pick<Began, "system" | "container"> & { firstPosition: number; signal: AbortSignal | undefined },
): Promise<LoopEnd> {
  const listeners = options.onEvent === undefined ? [] : [options.onEvent];
  const emit = createEmitter(scope.host, sourceOf(scope), listeners);
  await scope.ready;
  return driveLoop({
    options,
    scope,
    responses: recordedResponsesOf(
      scope,
      (position) => emit({ type: "replay-diverged", position, turn: position + 1 }),
      how.firstPosition,
    ),
    request: {
      system: how.system,
      tools: [...toAnthropicTools([...tools.values()]), ...(options.params?.tools ?? [])],
    },
    container: how.container,
    tools,
    signal: how.signal,
    emit: (round, event) => emit({ ...event, turn: round }),
  });
}

function aboutOf({ name, model }: AgentLoopOptions): AgentAbout {
  return { name, model, provider: "anthropic" };
}

function failed(reason: string): ToolwrightError {
  return new ToolwrightError("TOOL_MODEL_FAILED", reason);
}

type System = MessageCreateParamsBase["system"];

/** Adds the inventory of the project's tools to the caller's system prompt. */
function withInventory(system: System, part: string): System {
  if (system === undefined || typeof system === "string") return withCapabilities(system, part);
  return part === "" ? system : [...system, { type: "text", text: part }];
}

async function containerOfLastTurn(host: OpenRuntime["host"], runId: string): Promise<Container | undefined> {
  const last = await host.store.read(() => lastTurn(runId));
  if (last === undefined || last.resultJson === null) return undefined;
  return (decode(last.resultJson) as StoredResult).container;
}

function hashOf(messages: AgentLoopOptions["messages"]): string {
  return sha256(canonicalText(messages));
}

function checkTerminals(tools: Iterable<Tool>): void {
  for (const tool of tools) {
    const { terminal } = specOf(tool);
    if (terminal !== false && !STATUSES.has(terminal.status)) {
      throw refusal(
        "tools",
        `contain "${tool.name}" with the terminal status "${terminal.status}"; expected complete, failed or waiting`,
      );
    }
  }
}
