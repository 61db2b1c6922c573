/**
 * Imports the tools of a server. The server is not trusted: its hints have no effect, inputs and outputs are
 * validated here, and a tool without a policy counts as a non-idempotent side effect.
 */
import { z } from "zod";
import { POLICIES } from "../../../definition/check-tool-options.ts";
import type { BaseToolContext } from "../../../definition/context.ts";
import {
  aFullText,
  anInteger,
  aSignal,
  aText,
  type Check,
  fields,
  valuesOf,
} from "../../../definition/option-checks.ts";
import {
  asOptionError,
  checkOptions,
  optionTable,
  type OptionTable,
} from "../../../definition/option-table.ts";
import { createToolSpec, type McpParts, type ToolParts } from "../../../definition/tool-spec.ts";
import { ToolwrightError } from "../../../errors.ts";
import { messageOf } from "../../../invoke/error-record.ts";
import { createCallable } from "../../../tool/create-callable.ts";
import type { ForeignPolicy } from "../../../tool/from-tool.ts";
import type { Tool } from "../../../tool/tool.ts";
import { toTerminalLine } from "../../../terminal/terminal-text.ts";
import { callRemoteTool, structuredIn } from "./call-remote-tool.ts";
import { listRemoteTools } from "./list-remote-tools.ts";
import { anMcpClient, type McpClient, type RemoteTool } from "./mcp-client.ts";
import { changeOf } from "./pins.ts";
import { toZod } from "./remote-schema.ts";
import { withoutUndefined } from "../../../util/without-undefined.ts";

/** Policies for all tools of a server, and for single ones by the server's names. */
export type McpImportPolicy = Omit<ForeignPolicy, "name" | "description" | "inputJsonSchema"> & {
  /** `false` excludes a tool. */
  readonly tools?: Readonly<Record<string, Omit<ForeignPolicy, "inputJsonSchema"> | false>> | undefined;
  /** From `pinMcpTools`. Calls of a tool that has changed since then, or is new, are refused. */
  readonly pins?: Readonly<Record<string, string>> | undefined;
  /** Prepended to every name, to distinguish the tools of several servers. */
  readonly prefix?: string | undefined;
  /** How long the server may take to list its tools. Default 30,000. */
  readonly listTimeoutMs?: number | undefined;
  /** The maximum number of tools that the server may list. Default 1,000. */
  readonly maxTools?: number | undefined;
  /** The maximum size of an answer of the server: a result, or its whole list. Default 16 MiB. */
  readonly maxAnswerBytes?: number | undefined;
  readonly signal?: AbortSignal | undefined;
};

const CALL_TIMEOUT_MS = 60_000;

/**
 * @throws TOOL_EXECUTION_FAILED if the server's tools cannot be listed
 *
 * @example
 * const tools = await importMcpTools(client, { tools: { get_weather: { sideEffect: false } } });
 */
export async function importMcpTools(client: McpClient, policy: McpImportPolicy = {}): Promise<Tool[]> {
  asOptionError(MCP_IMPORT_POLICY.surface, () => anMcpClient(client, "client"));
  checkOptions(MCP_IMPORT_POLICY, policy);
  const { tools, unusable } = await listRemoteTools(client, {
    timeoutMs: policy.listTimeoutMs,
    maxTools: policy.maxTools,
    maxAnswerBytes: policy.maxAnswerBytes,
    signal: policy.signal,
  });
  for (const problem of unusable) warn(problem);
  return tools.flatMap((tool) => {
    try {
      return importTool(client, tool, policy) ?? [];
    } catch (error) {
      // One invalid tool must not affect the others.
      warn(`"${tool.name}" cannot be used: ${messageOf(error)}`);
      return [];
    }
  });
}

/** `undefined` if the policy excludes the tool. */
export function importTool(client: McpClient, tool: RemoteTool, policy: McpImportPolicy): Tool | undefined {
  const { tools, pins, prefix = "", maxAnswerBytes, ...others } = policy;
  const { listTimeoutMs: _timeout, maxTools: _tools, signal: _signal, ...forAll } = others;
  const own = tools !== undefined && Object.hasOwn(tools, tool.name) ? tools[tool.name] : {};
  if (own === false) return undefined;
  const { name = `${prefix}${tool.name}`, description = tool.description, ...forThis } = own ?? {};
  const change = pins === undefined ? undefined : changeOf(tool, pins);
  return createCallable(
    createToolSpec(
      {
        name,
        description,
        schema: toZod(tool.inputSchema),
        inputJsonSchema: tool.inputSchema,
        ...outputPartsOf(tool),
        sdk: tool.title === undefined ? {} : { title: tool.title },
        mcp: mcpPartsOf(tool, { ...forAll, ...forThis }),
        execute: (args: Record<string, unknown>, ctx: BaseToolContext) => {
          if (change !== undefined) throw changed(tool, change);
          return callRemoteTool(client, tool, args, ctx, maxAnswerBytes);
        },
      },
      {
        sideEffect: true,
        // The key is sent, but only the user can tell whether the server honours it.
        acceptsIdempotencyKey: false,
        timeoutMs: CALL_TIMEOUT_MS,
        ...forAll,
        ...forThis,
        // A call that is refused anyway needs no approval.
        ...(change === undefined ? {} : { needsApproval: false, retry: {} }),
      },
    ),
  );
}

const ofOneTool: Check = fields({ ...POLICIES, name: aFullText, description: aText });

/** Validated as a whole: an invalid policy must not drop single tools or their approvals. */
export const MCP_IMPORT_POLICY: OptionTable = optionTable<McpImportPolicy>("importMcpTools", {
  ...POLICIES,
  tools: valuesOf((value, field) => {
    if (value !== false) ofOneTool(value, field);
  }),
  pins: valuesOf(aText),
  prefix: aText,
  listTimeoutMs: anInteger(1),
  maxTools: anInteger(1),
  maxAnswerBytes: anInteger(1),
  signal: aSignal,
});

/** Without a usable schema, the output is not validated. */
function outputPartsOf({ outputSchema }: RemoteTool): Pick<ToolParts, "outputSchema" | "outputJsonSchema"> {
  if (outputSchema === undefined) return {};
  try {
    return { outputSchema: validateStructured(toZod(outputSchema)), outputJsonSchema: outputSchema };
  } catch {
    return {};
  }
}

/** The schema describes the structured content; an output may contain other content besides. */
function validateStructured(schema: z.ZodType): z.ZodType {
  return z.unknown().transform(async (output, ctx) => {
    const structured = structuredIn(output);
    const { success, data, error } = await schema.safeParseAsync(structured);
    if (!success) {
      for (const issue of error.issues) ctx.issues.push({ ...issue, input: output } as z.core.$ZodRawIssue);
      return z.NEVER;
    }
    return structured === output ? data : { ...(output as object), structuredContent: data };
  });
}

/** The server's metadata, except that hints about effects give way to the policy. */
function mcpPartsOf(tool: RemoteTool, { sideEffect, idempotent }: ForeignPolicy): McpParts {
  const { title, icons, _meta, annotations = {} } = tool;
  const { readOnlyHint, destructiveHint, idempotentHint, ...others } = annotations;
  return {
    title,
    icons,
    _meta,
    annotations: {
      ...others,
      ...(sideEffect === undefined ? withoutUndefined({ readOnlyHint, destructiveHint }) : {}),
      ...(idempotent === undefined && sideEffect === undefined ? withoutUndefined({ idempotentHint }) : {}),
    },
  };
}

function changed(tool: RemoteTool, change: string): ToolwrightError {
  return new ToolwrightError("TOOL_CHANGED", `Tool "${tool.name}" of the MCP server is refused: ${change}.`, {
    details: { tool: tool.name, change },
    effect: "none",
  });
}

function warn(problem: string): void {
  console.warn(`toolwright: MCP server: ${toTerminalLine(problem)}.`);
}
