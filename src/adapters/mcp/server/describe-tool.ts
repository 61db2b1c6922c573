/** Describes a tool to MCP clients. */
import type { Icon, ToolAnnotations } from "@modelcontextprotocol/server";
import type { JsonSchema } from "../../../definition/json-schema.ts";
import { specOf } from "../../../tool/create-callable.ts";
import type { Tool } from "../../../tool/tool.ts";
import { digest } from "../../../util/hash.ts";
import type { Promised } from "./to-result.ts";

export interface McpToolDescription {
  readonly name: string;
  readonly description: string;
  readonly title: string | undefined;
  readonly annotations: ToolAnnotations;
  readonly icons: Icon[] | undefined;
  /** The schema that results are guaranteed to match; `undefined` if there is no guarantee. */
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
      // A definition does not tell whether an effect is additive or the tool is local, so the protocol's defaults
      // apply.
      destructiveHint: sideEffect,
      idempotentHint: idempotent,
      openWorldHint: true,
      ...mcp.annotations,
    },
    // A replayed output contains redaction marks, which may not match the schema.
    outputSchema: redactOutput.length === 0 ? tool.outputSchema : undefined,
    _meta: name === tool.name ? mcp._meta : { ...mcp._meta, "toolwright/name": tool.name },
  };
}

/** The output schema of an imported tool describes its structured content. */
export function promisedBy(tool: Tool, { outputSchema }: McpToolDescription): Promised {
  if (outputSchema === undefined) return "nothing";
  return specOf(tool).outputJsonSchema === undefined ? "output" : "structured-content";
}

/** Why the tool cannot be served over MCP, where arguments are always an object; `undefined` if it can. */
export function unservable(tool: Tool): string | undefined {
  const { type }: JsonSchema = tool.inputSchema.jsonSchema;
  return type === undefined || type === "object"
    ? undefined
    : `its input schema has the type ${JSON.stringify(type)}, but MCP requires an object`;
}

const ACCEPTED_NAME = /^[A-Za-z0-9._-]{1,128}$/;
const MAX_STEM_LENGTH = 100;

/** A unique name that MCP accepts, the same in every process. The log has the original name. */
function toMcpName(name: string): string {
  // The official server looks names up in a plain object, so names of its prototype would match.
  if (ACCEPTED_NAME.test(name) && !(name in Object.prototype)) return name;
  const stem = name.replaceAll(/[^A-Za-z0-9._-]/g, "_").slice(0, MAX_STEM_LENGTH);
  return `${stem}_${digest(["mcp tool", name]).slice(0, 8)}`;
}
