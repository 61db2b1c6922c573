/**
 * A server's JSON Schema as a Zod schema. Zod alone says clearly where something is wrong, and knows only a part of JSON
 * Schema; the validator of the official package knows all of it and has the last word. Neither may take long: a server
 * that means ill could write a pattern that no program comes to the end of.
 */
import { fromJsonSchema } from "@modelcontextprotocol/server";
import { z } from "zod";
import { TimedOut, withinTime } from "../../../util/within-time.ts";
import type { RemoteTool } from "./mcp-client.ts";

const LONGEST_CHECK_MS = 1_000;

/** @throws where the schema is none, or refers to another place */
export function toZod(schema: RemoteTool["inputSchema"]): z.ZodType {
  const { validate } = fromJsonSchema(schema)["~standard"];
  const known = inZod(schema);
  return z.unknown().transform(async (value, ctx) => {
    try {
      const parsed = withinTime(LONGEST_CHECK_MS, () => known.safeParse(value));
      if (!parsed.success) {
        for (const issue of parsed.error.issues)
          ctx.issues.push({ ...issue, input: value } as z.core.$ZodRawIssue);
        return z.NEVER;
      }
      const { issues = [] } = await withinTime(LONGEST_CHECK_MS, () => validate(parsed.data));
      for (const { message } of issues) ctx.issues.push({ code: "custom", message, input: value });
      return parsed.data;
    } catch (error) {
      if (!(error instanceof TimedOut)) throw error;
      const message = "it cannot be checked in reasonable time against the patterns of the server's schema";
      ctx.issues.push({ code: "custom", message, input: value });
      return z.NEVER;
    }
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
