/** The `revert` of a tool as a separate tool: its calls go through the pipeline like any other. */
import { z } from "zod";
import type { ToolContext } from "../../definition/context.ts";
import type { RevertFields, ToolPolicies } from "../../definition/tool-options.ts";
import { createToolSpec, namesKey, type ToolSpec } from "../../definition/tool-spec.ts";
import { outputOf, type PlannedRevert, type RevertInput, revertName } from "./plan-reverts.ts";

const INPUT = z.object({ call: z.looseObject({}), args: z.unknown() });

type RevertFunction = NonNullable<ToolSpec["revert"]>;

/** @param revert of `spec` */
export function toRevertTool(spec: ToolSpec, revert: RevertFunction, planned: PlannedRevert): ToolSpec {
  const { revertNeedsApproval, retry, timeoutMs, approvalTtlMs, options } = spec;
  const { tool, nodeId } = planned.input.call;
  const withFields = (ctx: ToolContext<object>) => addFields(ctx, planned);
  const policies: ToolPolicies<RevertInput, unknown, object> = {
    sideEffect: true,
    idempotent: false,
    retry,
    timeoutMs,
    approvalTtlMs,
    // Built-in tools compare before they write, so their interrupted reverts can be repeated.
    onUnknown: spec.usesFiles ? "run" : undefined,
    acceptsIdempotencyKey: options.acceptsIdempotencyKey === false ? false : namesKey(revert),
    approvalPrompt: `May the effect of "${tool}" in task "${nodeId}" be reverted?`,
    needsApproval:
      typeof revertNeedsApproval === "function"
        ? async (input, ctx) => revertNeedsApproval(await argsFor(spec, input), withFields(ctx))
        : revertNeedsApproval,
  };
  return createToolSpec(
    {
      name: revertName(spec.name),
      description: `Undoes what "${spec.name}" did.`,
      schema: INPUT,
      // What it returns is not stored: the outcome says that the effect was reverted.
      execute: async (input: RevertInput, ctx: ToolContext<object>): Promise<void> => {
        await revert(await argsFor(spec, input), withFields(ctx));
      },
      usesFiles: spec.usesFiles,
      isExempt: true,
      takesMarks: true,
    },
    policies as unknown as ToolPolicies<never, never, never>,
  );
}

/** The arguments as `execute` received them, or as they are logged if their marks or digests do not fit the schema. */
async function argsFor({ schema, parsesInput }: ToolSpec, { args }: RevertInput): Promise<unknown> {
  if (parsesInput) return args;
  const parsed = await schema.safeParseAsync(args);
  return parsed.success ? parsed.data : args;
}

/** The ids in the context belong to the call that is reverted. The idempotency key is the revert's own. */
function addFields(ctx: ToolContext<object>, planned: PlannedRevert): ToolContext<object> & RevertFields {
  const { effect } = planned;
  const fields: RevertFields & Partial<ToolContext<object>> = {
    output: outputOf(planned),
    effectStatus: effect.status === "success" ? "succeeded" : "unknown",
    originalIdempotencyKey: effect.idempotencyKey ?? effect.key,
    toolName: effect.toolName,
    nodeId: effect.nodeId,
    iteration: effect.iteration,
    attempt: effect.attempt,
    seq: effect.seq,
    toolCallId: effect.toolCallId ?? undefined,
  };
  for (const [name, value] of Object.entries(fields))
    Object.defineProperty(ctx, name, { value, enumerable: true, configurable: true, writable: true });
  return ctx as ToolContext<object> & RevertFields;
}
