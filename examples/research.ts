/**
 * A smart agent reads far more than fits into its context window. Old results are archived; the answer depends on a detail
 * of the first one, which the agent reads again by its handle. The program dies twice, and another process resumes the run.
 * Offline: the model is a script that sees only what it is sent.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRuntime, createSmartAgent, createTool } from "toolwright";
import { createScriptedModel, type ScriptedRequest } from "toolwright/testing";
import { z } from "zod";

const REPORTS = 25;
const WINDOW = 5_000;
let reads = 0;

const readReport = createTool({
  name: "read_report",
  description: "Reads a report",
  schema: z.object({ n: z.int() }),
  func: ({ n }) => {
    reads += 1;
    return `Report ${n}. ${`Nothing to see in part ${n}. `.repeat(150)}Its reference is R-${n * 7919}.`;
  },
});

/** Acts like a careful model: continues after the last report, then reads the first one again. */
function think(request: ScriptedRequest) {
  const seen = JSON.stringify(request.prompt);
  if (seen.includes("Summarise this part")) return "Reports were read, without anything of note.";
  const last = request.toolResults.at(-1);
  if (last?.toolName === "get_tool_response") {
    const { content, executionId, nextOffset } = last.output as {
      content: string;
      executionId: string;
      nextOffset: number;
    };
    const reference = /Its reference is (R-\d+)/.exec(content)?.[1];
    if (reference !== undefined) return `The first report's reference is ${reference}.`;
    return [{ toolName: "get_tool_response", input: { executionId, offset: nextOffset } }];
  }
  const read = Math.max(0, ...[...seen.matchAll(/Report (\d+)\./g)].map(([, n]) => Number(n)));
  if (read < REPORTS) return [{ toolName: "read_report", input: { n: read + 1 } }];
  const executionId = /executionId\\*":\\*"([\w-]{43})/.exec(seen)?.[1];
  return [{ toolName: "get_tool_response", input: { executionId } }];
}

const folder = mkdtempSync(join(tmpdir(), "toolwright-research-"));

/** Each call acts as a separate program, which dies after this many model responses. */
async function research(diesAfter: number) {
  await using runtime = createRuntime({ store: join(folder, "research.db") });
  let answers = 0;
  const model = createScriptedModel(
    [(request) => ((answers += 1) > diesAfter ? new Error("the power went out") : think(request))],
    { atEnd: "repeat-last" },
  );
  const agent = createSmartAgent({
    model,
    tools: [readReport],
    runtime,
    limits: { maxContextTokens: WINDOW },
    planning: { mode: "off" },
  });
  try {
    return await agent.invoke({
      messages: [{ role: "user", content: "Read all reports. What is the reference of the first?" }],
      runId: "research",
    });
  } finally {
    const largest = Math.max(
      ...model.requests.map(({ prompt }) => Math.ceil(JSON.stringify(prompt).length / 3)),
    );
    console.log(
      `asked ${model.requests.length} times, at most about ${largest} tokens, ${reads} reports read so far`,
    );
    assert.ok(largest < WINDOW);
  }
}

await assert.rejects(research(9), /power went out/);
await assert.rejects(research(11), /power went out/);
const { content, state } = await research(Infinity);
console.log(content); // The first report's reference is R-7919.
assert.equal(content, "The first report's reference is R-7919.");
assert.equal(reads, REPORTS);
assert.match(String(state.toolHistory[0]?.output), /R-7919/);
rmSync(folder, { recursive: true });
