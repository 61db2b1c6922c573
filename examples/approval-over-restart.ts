/**
 * A smart agent that needs approval. The program ends while it waits; the state is JSON in a file. Editing that file
 * approves nothing: only a decision in the store counts. Offline, on a scripted model.
 */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRuntime, createSmartAgent, createTool, type AgentState } from "toolwright";
import { createScriptedModel } from "toolwright/testing";
import { z } from "zod";

const folder = mkdtempSync(join(tmpdir(), "toolwright-approval-"));
const file = join(folder, "state.json");
const written: string[] = [];

const writeFile = createTool({
  name: "dangerous_write",
  description: "Write content to disk",
  schema: z.object({ path: z.string(), content: z.string() }),
  needsApproval: true,
  approvalPrompt: "Confirm the write is safe.",
  sideEffect: true,
  func: async ({ path, content }, ctx) => {
    written.push(`${path} ${ctx.idempotencyKey?.length}`);
    return { ok: true, path, bytesWritten: content.length };
  },
});

const model = createScriptedModel([
  [{ toolName: "dangerous_write", input: { path: "notes.txt", content: "hello" } }],
  "The notes are written.",
]);

/** Each call acts as a separate program. */
async function program<T>(work: (agent: ReturnType<typeof createSmartAgent>) => Promise<T>): Promise<T> {
  await using runtime = createRuntime({ store: join(folder, "agent.db") });
  return await work(createSmartAgent({ name: "writer", model, tools: [writeFile], runtime }));
}

await program(async (agent) => {
  const { status, state } = await agent.invoke({ messages: [{ role: "user", content: "Write the notes." }] });
  console.log(status, "-", state.pendingApprovals[0]?.prompt); // waiting - Confirm the write is safe.
  assert.equal(status, "waiting");
  writeFileSync(file, JSON.stringify(state));
});

const saved = readFileSync(file, "utf8");
await program(async (agent) => {
  const forged = JSON.parse(saved.replaceAll('"pending"', '"approved"')) as AgentState;
  const { status } = await agent.invoke(forged);
  console.log("a state that says it is approved:", status); // waiting
  assert.equal(status, "waiting");
  assert.equal(written.length, 0);
});

const done = await program(async (agent) => {
  const state = JSON.parse(saved) as AgentState;
  const [request] = state.pendingApprovals;
  const next = agent.resolveToolApproval(state, { id: request?.id ?? "", approved: true, decidedBy: "ann" });
  return agent.invoke(next);
});
console.log(done.content); // The notes are written.
assert.equal(done.content, "The notes are written.");
assert.deepEqual(written, ["notes.txt 43"]);

const again = await program((agent) => agent.invoke({ runId: done.runId }));
assert.equal(again.content, done.content);
assert.equal(written.length, 1);
assert.equal(model.requests.length, 2);
rmSync(folder, { recursive: true });
