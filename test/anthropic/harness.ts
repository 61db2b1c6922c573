/**
 * Helpers for the tests of the Anthropic loop: the real client with a scripted server, a store, and tools that count
 * their effects.
 */
import Anthropic from "@anthropic-ai/sdk";
import { onTestFinished } from "vitest";
import { z } from "zod";
import {
  createRuntime,
  defineTool,
  type AgentLoopEvent,
  type Runtime,
  type RuntimeOptions,
} from "toolwright";
import { type AnthropicTurn, createScriptedAnthropic, type ScriptedAnthropic } from "toolwright/testing";
import { createStorePath } from "../workflow/harness.ts";

export interface Setup {
  readonly server: ScriptedAnthropic;
  /** Does not retry by default; retries without delay. */
  readonly client: Anthropic;
}

export async function serve(
  script: readonly AnthropicTurn[],
  options: { atEnd?: "repeat-last"; maxRetries?: number } = {},
): Promise<Setup> {
  const { atEnd, maxRetries = 0 } = options;
  const server = await createScriptedAnthropic(script, { atEnd });
  onTestFinished(() => server[Symbol.asyncDispose]());
  return { server, client: new Anthropic({ baseURL: server.baseURL, apiKey: "any", maxRetries }) };
}

/** On a file, so that a second runtime can resume the work of the first. Disposed after the test. */
export function openRuntime(store = createStorePath(), options: RuntimeOptions = {}): Runtime {
  const runtime = createRuntime({ ...options, store });
  onTestFinished(() => runtime[Symbol.asyncDispose]());
  return runtime;
}

export interface Orders {
  /** The ordered articles, in order. */
  readonly placed: string[];
  readonly order: ReturnType<typeof createOrderTool>;
}

function createOrderTool(placed: string[], needsApproval: boolean) {
  return defineTool({
    name: "shop.order",
    description: "Order something",
    schema: z.object({ sku: z.string() }),
    sideEffect: true,
    needsApproval,
    execute: ({ sku }, ctx) => {
      void ctx.idempotencyKey;
      placed.push(sku);
      return { order: placed.length, sku };
    },
  });
}

export function createOrders(needsApproval = false): Orders {
  const placed: string[] = [];
  return { placed, order: createOrderTool(placed, needsApproval) };
}

export const user = (content: string) => ({ role: "user" as const, content });
export const call = (toolName: string, input: unknown, toolCallId?: string) => ({
  toolName,
  input,
  toolCallId,
});

/** Events of one type, in order. */
export function eventsOf<Type extends AgentLoopEvent["type"]>(
  events: readonly AgentLoopEvent[],
  type: Type,
): Extract<AgentLoopEvent, { type: Type }>[] {
  return events.filter((event): event is Extract<AgentLoopEvent, { type: Type }> => event.type === type);
}

/** The tool results in a message. */
export function resultsIn(message: { readonly content: unknown } | undefined): Record<string, unknown>[] {
  return Array.isArray(message?.content)
    ? (message.content as Record<string, unknown>[]).filter(({ type }) => type === "tool_result")
    : [];
}

export function jsonOf(result: Record<string, unknown> | undefined): unknown {
  return JSON.parse(String(result?.["content"]));
}
