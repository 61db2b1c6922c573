/**
 * The part of an MCP client that we use; the official client and others have it. Its answers are untrusted and
 * parsed.
 */
import { z } from "zod";
import { type Check, withMethods } from "../../../definition/option-checks.ts";

export interface McpClient {
  /** Set on the official client while it is connected. */
  readonly transport?: unknown;
  listTools(params?: { cursor: string }, options?: object): Promise<unknown>;
  callTool(
    params: {
      name: string;
      arguments: Record<string, unknown>;
      _meta?: Record<string, unknown>;
    },
    options?: object,
  ): Promise<unknown>;
}

export const anMcpClient: Check = withMethods(
  "a connected MCP client, such as a Client of @modelcontextprotocol/client",
  "listTools",
  "callTool",
);

/** A disconnected official client returns an empty list, which must not be mistaken for a server without tools. */
export function isDisconnected(client: McpClient): boolean {
  return "transport" in client && client.transport === undefined;
}

const jsonSchema = z.record(z.string(), z.unknown());

export const remoteTool = z.object({
  name: z.string().min(1),
  description: z.string().optional(),
  inputSchema: jsonSchema,
  outputSchema: jsonSchema.optional(),
  title: z.string().optional(),
  /** Hints that are passed on and have no effect here. */
  annotations: jsonSchema.optional(),
  icons: z.array(jsonSchema).optional(),
  _meta: jsonSchema.optional(),
});

export type RemoteTool = z.output<typeof remoteTool>;

export const toolPage = z.object({
  tools: z.array(z.unknown()),
  nextCursor: z.string().optional(),
});

export const callResult = z.object({
  content: z.array(z.looseObject({ type: z.string() })).default([]),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().optional(),
});

export type CallResult = z.output<typeof callResult>;
