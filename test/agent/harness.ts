/** Helpers for the smart agent tests: a store, a scripted model, and tools that count their effects. */
import {
  createRuntime,
  createSmartAgent,
  defineTool,
  type Runtime,
  type RuntimeOptions,
  type SmartAgentEvent,
  type SmartAgentOptions,
} from "toolwright";
import { createScriptedModel, type ScriptedModel, type ScriptedTurn } from "toolwright/testing";
import { onTestFinished } from "vitest";
import { z } from "zod";
import { createWorld, type World } from "../semantics/harness.ts";

export { createWorld, type World };

/** A runtime on its own connection, as another process would have. Disposed after the test. */
export async function openRuntime(world: World, options: RuntimeOptions = {}): Promise<Runtime> {
  const runtime = createRuntime({ store: await world.open(), ...options });
  onTestFinished(() => runtime[Symbol.asyncDispose]());
  return runtime;
}

export interface TestAgent {
  readonly agent: ReturnType<typeof createSmartAgent>;
  readonly model: ScriptedModel;
  readonly events: SmartAgentEvent[];
  readonly runtime: Runtime;
}

/** An agent with a scripted model, on its own runtime. */
export async function createAgent(
  world: World,
  script: readonly ScriptedTurn[],
  options: Partial<SmartAgentOptions> = {},
): Promise<TestAgent> {
  const runtime = options.runtime ?? (await openRuntime(world));
  const model = createScriptedModel(script);
  const events: SmartAgentEvent[] = [];
  const agent = createSmartAgent({ model, runtime, onEvent: (event) => events.push(event), ...options });
  return { agent, model, events, runtime };
}

export const user = (content: string) => ({ role: "user" as const, content });
export const ask = (content: string, runId?: string) => ({
  messages: [user(content)],
  ...(runId === undefined ? {} : { runId }),
});
export const call = (toolName: string, input: unknown, toolCallId?: string) => ({
  toolName,
  input,
  toolCallId,
});

export interface Orders {
  readonly placed: string[];
  readonly order: ReturnType<typeof orderTool>;
}

function orderTool(placed: string[], options: { needsApproval?: boolean }) {
  return defineTool({
    name: "order",
    description: "Order something",
    schema: z.object({ sku: z.string() }),
    sideEffect: true,
    ...options,
    execute: ({ sku }, ctx) => {
      void ctx.idempotencyKey;
      placed.push(sku);
      return { order: placed.length, sku };
    },
  });
}

export function createOrders(options: { needsApproval?: boolean } = {}): Orders {
  const placed: string[] = [];
  return { placed, order: orderTool(placed, options) };
}

export function eventsOf<Type extends SmartAgentEvent["type"]>(
  events: readonly SmartAgentEvent[],
  type: Type,
): Extract<SmartAgentEvent, { type: Type }>[] {
  return events.filter((event): event is Extract<SmartAgentEvent, { type: Type }> => event.type === type);
}
