/** A server as a program writes it: the global registry, no runtime, and a tool that prints. */
import { z } from "zod";
import { serveMcpStdio } from "../../../src/adapters/mcp/index.ts";
import { defineTool, registerTool } from "../../../src/index.ts";

registerTool(
  defineTool({
    name: "count",
    schema: z.object({}),
    sideEffect: true,
    idempotent: false,
    execute: (_args, ctx) => {
      console.log("noise of a tool");
      return { runId: ctx.runId };
    },
  }),
);
serveMcpStdio({});
