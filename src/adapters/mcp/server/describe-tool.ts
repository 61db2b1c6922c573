/** A tool as MCP clients are shown it. */
import type { Icon, ToolAnnotations } from "@modelcontextprotocol/server";
import type { JsonSchema } from "../../../definition/json-schema.ts";
import { specOf } from "../../../tool/create-callable.ts";
import type { Tool } from "../../../tool/tool.ts";
import type { Promised } from "./to-result.ts";
import { toMcpName } from "./tool-names.ts";

export interface McpToolDescription {
  readonly name: string;
  readonly description: string;
  readonly title: string | undefined;
  readonly annotations: ToolAnnotations;
  readonly icons: Icon[] | undefined;
  /** Shown and promised to the client; `undefined` where nothing can be promised. */
  readonly outputSchema: Tool["outputSchema"];
  readonly _meta: Readonly<Record<string, unknown>> | undefined;
}

export function describeTool(tool: Tool): McpToolDescription {
  const { sideEffect, idempotent, redactOutput, mcp, sdk } = specOf(tool);
  const name = toMcpName(tool.name);
  return {
    name,
    title: mcp.title ?? (typeof sdk.title === "string" ? sdk.title : undefined),
    description: tool.description,
    icons: mcp.icons as Icon[] | undefined,
    annotations: {
      readOnlyHint: !sideEffect,
      // Nothing in a definition says that an effect only adds, or that a tool stays at home: the protocol's defaults hold.
      destructiveHint: sideEffect,
      idempotentHint: idempotent,
      openWorldHint: true,
      ...mcp.annotations,
    },
    // A replayed output has marks where it is redacted, which would break the promise.
    outputSchema: redactOutput.length === 0 ? tool.outputSchema : undefined,
    _meta: name === tool.name ? mcp._meta : { ...mcp._meta, "toolwright/name": tool.name },
  };
}

/** The schema of an imported tool is that of its structured content. */
export function promisedBy(tool: Tool, { outputSchema }: McpToolDescription): Promised {
  if (outputSchema === undefined) return "nothing";
  return specOf(tool).outputJsonSchema === undefined ? "output" : "structured-content";
}

/** Why MCP cannot offer the tool; `undefined` where it can. Arguments are always an object there. */
export function unservable(tool: Tool): string | undefined {
  const { type }: JsonSchema = tool.inputSchema.jsonSchema;
  return type === undefined || type === "object"
    ? undefined
    : `its schema is of type ${JSON.stringify(type)}, and the arguments of MCP are an object`;
}
