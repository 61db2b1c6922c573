/**
 * Runs the calls of one response: several at once, started in the order of the response. An error of one call is its result
 * for the model, and does not affect the others.
 */
import { z } from "zod";
import { fromObjectInput } from "../definition/object-schema.ts";
import type { ToolSpec } from "../definition/tool-spec.ts";
import { ToolwrightError } from "../errors.ts";
import { invoke } from "../invoke/invoke.ts";
import type { Outcome } from "../invoke/outcome.ts";
import type { Scope } from "../invoke/scope.ts";
import { hidesInput, LEFT_OUT } from "../invoke/storable.ts";
import { specOf } from "../tool/create-callable.ts";
import type { Tool } from "../tool/tool.ts";

/** A call in a response. */
export interface RequestedCall {
  readonly id: string;
  /** The name that the model called. */
  readonly name: string;
  readonly input: unknown;
  /** The input as the model sent it, where it is not valid JSON. */
  readonly malformed: string | undefined;
}

export interface CallsOptions {
  readonly scope: Scope;
  /** By the names that the model sees. */
  readonly tools: ReadonlyMap<string, Tool>;
  readonly maxParallel: number;
  readonly signal: AbortSignal | undefined;
  /** Called when a call starts, and when it has ended. */
  readonly onStart?: ((call: RequestedCall) => void) | undefined;
  readonly onEnd?: ((ended: EndedCall) => void) | undefined;
  /** Calls of this tool run one after another: each starts after `onEnd` of the previous one. */
  readonly inOrder?: ToolSpec | undefined;
}

/** A call of a tool that is not offered has no spec, and is not logged. */
export type EndedCall<Call extends RequestedCall = RequestedCall> =
  | { readonly call: Call; readonly spec: ToolSpec; readonly args: unknown; readonly outcome: Outcome }
  | { readonly call: Call; readonly spec: undefined; readonly error: ToolwrightError };

/** In the order of the calls. @throws when the log cannot be written */
export async function runCalls<Call extends RequestedCall>(
  calls: readonly Call[],
  options: CallsOptions,
): Promise<EndedCall<Call>[]> {
  let before: Promise<unknown> = Promise.resolve();
  return mapAtMost(options.maxParallel, calls, async (call) => {
    const run = async (): Promise<EndedCall<Call>> => {
      options.onStart?.(call);
      const ended = await runCall(call, calls, options);
      options.onEnd?.(ended);
      return ended;
    };
    if (!isInOrder(call, options)) return run();
    const inTurn = before.then(run);
    before = inTurn;
    return inTurn;
  });
}

function isInOrder(call: RequestedCall, { inOrder, tools }: CallsOptions): boolean {
  const tool = inOrder === undefined ? undefined : tools.get(call.name);
  return tool !== undefined && specOf(tool) === inOrder;
}

async function runCall<Call extends RequestedCall>(
  call: Call,
  batch: readonly Call[],
  options: CallsOptions,
): Promise<EndedCall<Call>> {
  const tool = options.tools.get(call.name);
  if (tool === undefined) return { call, spec: undefined, error: notOffered(call.name, options.tools) };
  const spec = specOf(tool);
  const args = fromObjectInput(spec.inputJsonSchema, call.input);
  return { call, spec, args, outcome: await callTool(spec, args, call, batch, options) };
}

/** Invalid input takes the same path as any other, so that it is logged and reported in the same way. */
function callTool(
  spec: ToolSpec,
  args: unknown,
  { id, name, malformed }: RequestedCall,
  batch: readonly RequestedCall[],
  { scope, signal }: CallsOptions,
): Promise<Outcome> {
  const how = { toolCallId: id, signal, batch, modelName: name, readByModel: true };
  if (malformed === undefined) return invoke(scope, spec, args, how);
  // In text that is not JSON, the fields that must not be stored cannot be found.
  const shown = hidesInput(spec) ? LEFT_OUT : malformed;
  const refusing = {
    ...spec,
    schema: z.custom(() => false, "it is not valid JSON, or nested too deeply; nothing was run"),
  };
  return invoke(scope, refusing, shown, how);
}

function notOffered(name: string, tools: ReadonlyMap<string, Tool>): ToolwrightError {
  const offered = [...tools.keys()].join(", ");
  return new ToolwrightError(
    "TOOL_NOT_FOUND",
    `No tool named "${name}" is available. ${offered === "" ? "There are none." : `Available: ${offered}.`}`,
    { details: { tool: name }, effect: "none" },
  );
}

/** Starts items in order, and returns results in order. After a failure it starts no more, and rejects once all settled. */
async function mapAtMost<Item, Result>(
  most: number,
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const failures: unknown[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length && failures.length === 0) {
      const index = next;
      next += 1;
      try {
        results[index] = await work(items[index] as Item);
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, worker));
  if (failures.length > 0) throw failures[0];
  return results;
}
