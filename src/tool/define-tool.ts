/** `defineTool` and `createTool`: two ways to define a tool. */
import { toTerminalLine } from "../terminal/terminal-text.ts";
import type { z } from "zod";
import { checkUnknownOptions } from "../definition/check-tool-options.ts";
import type { ToolCapabilities } from "../definition/context.ts";
import type { DefineToolOptions, ExecuteFor, OutputFor, ToolPolicies } from "../definition/tool-options.ts";
import { ToolwrightError } from "../errors.ts";
import {
  createBuiltInSpec,
  createToolSpec,
  isUnrepeatable,
  mayPassKeyOn,
  type ToolSpec,
} from "../definition/tool-spec.ts";
import { createCallable } from "./create-callable.ts";
import type { AnyTool, Tool } from "./tool.ts";

/**
 * Defines a tool once, for every loop and every program.
 *
 * @example
 * const placeOrder = defineTool({
 *   name: "shop.place_order",
 *   description: "Place an order",
 *   schema: z.object({ sku: z.string() }),
 *   sideEffect: true,
 *   idempotent: false,
 *   execute: (args, ctx) => shop.order({ sku: args.sku, idempotencyKey: ctx.idempotencyKey }),
 * });
 */
export function defineTool<
  Input extends z.ZodType,
  Output extends z.ZodType = never,
  Result = unknown,
  Capabilities = ToolCapabilities,
>(
  // One signature, so that the compiler reports a mistake at its field and not as "no overload matches".
  options: DefineToolOptions<Input, Result, Output, Capabilities>,
): Tool<z.input<Input>, OutputFor<Output, Result>>;
export function defineTool(options: object): AnyTool {
  const given = optionsOf("defineTool", options) as AnyOptions;
  checkUnknownOptions(given, given.name, ["name", "description", "schema", "outputSchema", "execute"]);
  return define(given, given.execute);
}

/** The options of `createTool`: `func` instead of `execute`. */
export type CreateToolOptions<
  Input extends z.ZodType,
  Result = unknown,
  Output extends z.ZodType = never,
  Capabilities = ToolCapabilities,
> = Omit<DefineToolOptions<Input, Result, Output, Capabilities>, "execute"> & {
  readonly func: ExecuteFor<Input, Result, Output, Capabilities>;
};

export function createTool<
  Input extends z.ZodType,
  Output extends z.ZodType = never,
  Result = unknown,
  Capabilities = ToolCapabilities,
>(
  options: CreateToolOptions<Input, Result, Output, Capabilities>,
): Tool<z.input<Input>, OutputFor<Output, Result>>;
export function createTool(options: object): AnyTool {
  const given = optionsOf("createTool", options) as Omit<AnyOptions, "execute"> & {
    readonly func: AnyOptions["execute"];
  };
  checkUnknownOptions(given, given.name, ["name", "description", "schema", "outputSchema", "func"]);
  return define(given, given.func);
}

/** For built-in tools. */
export function defineBuiltInTool<Input extends z.ZodType, Result>(
  options: Omit<DefineToolOptions<Input, Result>, "schema" | "outputSchema"> & {
    readonly schema: () => Input;
    readonly digestInput?: (keyof z.output<Input> & string) | undefined;
    readonly usesFiles?: boolean | undefined;
  },
): Tool<z.input<Input>, Awaited<Result>> {
  const { name, description, schema, execute, digestInput, usesFiles } = options;
  const policies: object = options;
  return createCallable(
    createBuiltInSpec(
      { name, description, schema, execute, digestInput, usesFiles },
      policies as ToolPolicies<never, never, never>,
    ),
  );
}

interface AnyOptions extends ToolPolicies<never, never, never> {
  readonly name: string;
  readonly description?: string | undefined;
  readonly schema: z.ZodType;
  readonly outputSchema?: z.ZodType | undefined;
  readonly execute: (args: never, ctx: never) => unknown;
}

function optionsOf(name: string, options: unknown): object {
  if (typeof options === "object" && options !== null) return options;
  throw new ToolwrightError(
    "TOOL_DEFINITION_INVALID",
    `${name} needs an object with name, schema and a function.`,
  );
}

function define(options: Omit<AnyOptions, "execute">, execute: AnyOptions["execute"]): AnyTool {
  const { name, description, schema, outputSchema } = options;
  const spec = createToolSpec({ name, description, schema, outputSchema, execute }, options);
  warnAboutKey(spec);
  return createCallable(spec);
}

// One warning per name and process, even if a module is evaluated several times.
const warned = new Set<string>();

/**
 * Warns about a likely mistake: without the key, no service can deduplicate a repeated call. An author who says whether the
 * service honours keys has decided.
 */
export function warnAboutKey(spec: ToolSpec): void {
  if (spec.options.acceptsIdempotencyKey !== undefined) return;
  if (!isUnrepeatable(spec) || mayPassKeyOn(spec) || spec.reconcile !== undefined || warned.has(spec.name))
    return;
  warned.add(spec.name);
  console.warn(
    `toolwright: tool "${toTerminalLine(spec.name)}" is a non-idempotent side effect, but its execute takes no ctx. ` +
      `Take ctx and pass ctx.idempotencyKey on; otherwise an interrupted call waits for approval after a crash.`,
  );
}
