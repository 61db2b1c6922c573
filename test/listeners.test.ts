/** A listener only observes: however it fails, the run that it listens to ends as it would without it. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { createRuntime, defineTool } from "toolwright";
import { z } from "zod";
import { reportCall } from "../src/adapters/mcp/server/report-call.ts";
import { bundled } from "./started-programs.ts";

const PROGRAM = bundled(new URL("programs/bad-listeners.ts", import.meta.url));

describe("a listener of a runtime, a workflow, an Effect, an agent and the Anthropic loops", () => {
  it.each([
    "throws",
    "rejects",
    "rejects with nothing",
    "throws what cannot be read",
    "returns a thenable that rejects",
    "returns a thenable that throws",
    "calls a tool",
    "changes what it receives",
  ])("that %s affects no run", async (fault) => {
    const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, fault]);
    expect(JSON.parse(stdout)).toEqual({
      results: [2, 3, 3, "Done.", "complete", false, "complete", false],
      calls: 6,
      heard: true,
    });
  });
});

it("progress that an MCP client refuses does not affect the result of the call", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const tool = defineTool({
    name: "talks",
    schema: z.object({}),
    execute: (_args, ctx) => {
      ctx.progress("half");
      ctx.progress("done");
      return 1;
    },
  });
  let sent = 0;
  const notify = (): never => {
    sent += 1;
    throw new Error("the connection is closed");
  };
  const progress = reportCall(runtime, "r", {
    mcpReq: { _meta: { progressToken: 1 }, notify },
  } as never);
  await runtime.call(tool, {}, { runId: "r" });
  await progress.end();
  expect(sent).toBe(2);
});
