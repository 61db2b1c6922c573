/**
 * Converts a server's JSON Schema to a Zod schema. Zod reports errors precisely but supports only a part of JSON
 * Schema; the validator of the official package supports all of it and decides. Both have a time limit, since a
 * malicious server could send a pattern with catastrophic backtracking.
 */
import { fromJsonSchema } from "@modelcontextprotocol/server";
import { z } from "zod";
import { TimedOut, withinTime } from "./within-time.ts";
import type { RemoteTool } from "./mcp-client.ts";

const CHECK_TIMEOUT_MS = 1_000;

/** @throws if the schema is invalid or refers to another document */
export function toZod(schema: RemoteTool["inputSchema"]): z.ZodType {
  const { validate } = fromJsonSchema(schema)["~standard"];
  const zodSchema = inZod(schema);
  return z.unknown().transform(async (value, ctx) => {
    try {
      const parsed = withinTime(CHECK_TIMEOUT_MS, () => zodSchema.safeParse(value));
      if (!parsed.success) {
        for (const issue of parsed.error.issues)
          ctx.issues.push({ ...issue, input: value } as z.core.$ZodRawIssue);
        return z.NEVER;
      }
      const { issues = [] } = await withinTime(CHECK_TIMEOUT_MS, () => validate(parsed.data));
      for (const { message } of issues) ctx.issues.push({ code: "custom", message, input: value });
      return parsed.data;
    } catch (error) {
      if (!(error instanceof TimedOut)) throw error;
      const message = "validation against the patterns of the server's schema timed out";
      ctx.issues.push({ code: "custom", message, input: value });
      return z.NEVER;
    }
  });
}

function inZod(schema: RemoteTool["inputSchema"]): z.ZodType {
  try {
    return z.fromJSONSchema(schema);
  } catch {
    // Zod cannot express the schema; the official validator can.
    return z.unknown();
  }
}
