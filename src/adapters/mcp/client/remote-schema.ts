/**
 * A server's JSON Schema as a Zod schema. Zod alone says clearly where something is wrong, and knows only a part of JSON
 * Schema; the validator of the official package knows all of it and has the last word.
 */
import { fromJsonSchema } from "@modelcontextprotocol/server";
import { z } from "zod";
import type { RemoteTool } from "./mcp-client.ts";

/** @throws where the schema is none, or refers to another place */
export function toZod(schema: RemoteTool["inputSchema"]): z.ZodType {
  const { validate } = fromJsonSchema(schema)["~standard"];
  return inZod(schema).superRefine(async (value, ctx) => {
    const { issues = [] } = await validate(value);
    for (const { message } of issues) ctx.addIssue({ code: "custom", message });
  });
}

function inZod(schema: RemoteTool["inputSchema"]): z.ZodType {
  try {
    return z.fromJSONSchema(schema);
  } catch {
    // It has more than Zod can say; the other one can.
    return z.unknown();
  }
}
