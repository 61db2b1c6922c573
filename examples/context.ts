/** An agent stores notes. After a restart, another agent finds them by words and by meaning. Also writes an inventory of tools. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ToolLoopAgent } from "ai";
import { createRuntime } from "toolwright";
import { createScriptedModel } from "toolwright/testing";
import { capabilitiesTools, contextTools } from "toolwright/tools";

const folder = mkdtempSync(join(tmpdir(), "toolwright-context-"));

// Stands in for a provider's model: texts about the same topic have similar vectors.
const TOPICS = [/car|automobile|engine/i, /invoice|revenue|money/i];
const embeddingModel = {
  provider: "example",
  modelId: "topics",
  doEmbed: async ({ values }: { values: string[] }) => ({
    embeddings: values.map((text) => TOPICS.map((topic) => (topic.test(text) ? 1 : 0.1))),
  }),
};

const note = (path: string, content: string) => ({
  toolName: "context_write",
  input: { drive: "notes", path, content },
});
const model = createScriptedModel([
  [
    note("/garage.md", "The automobile needs a new battery."),
    note("/office.md", "Send the invoice to Ann.\nRevenue is up."),
  ],
  "Both are noted.",
]);

function openRuntime() {
  const store = join(folder, "notes.db");
  return createRuntime({ store, rootDir: folder, embeddingModel, tools: contextTools });
}

{
  await using runtime = openRuntime();
  const agent = new ToolLoopAgent({ model, tools: contextTools });
  const { text } = await runtime.run({ runId: "monday" }, () => agent.generate({ prompt: "Keep these." }));
  console.log(`The agent: ${text}`);
}

await using runtime = openRuntime();
const { context_write, context_search, context_tree, search_semantic } = contextTools;

const tree = await runtime.call(context_tree, { drive: "notes" });
assert.ok(tree.status === "success" && "entries" in tree.output);
const paths = tree.output.entries.map(({ path }) => path);
console.log(`After a restart there are: ${paths.join(", ")}`);
assert.deepEqual(paths, ["/garage.md", "/office.md"]);

const byWords = await runtime.call(context_search, { query: "battery" });
assert.ok(byWords.status === "success");
console.log('By the word "battery":', byWords.output.results[0]?.snippet);
assert.equal(byWords.output.results[0]?.path, "/garage.md");

const byMeaning = await runtime.call(search_semantic, { query: "my car", limit: 1 });
assert.ok(byMeaning.status === "success");
console.log(`By meaning, "my car" (${byMeaning.output.method}):`, byMeaning.output.results[0]?.path);
assert.equal(byMeaning.output.method, "embedding");
assert.equal(byMeaning.output.results[0]?.path, "/garage.md");

const again = await runtime.call(context_write, { drive: "notes", path: "/office.md", content: "Gone." });
assert.ok(again.status === "error");
const { error_type, next_action_hint } = again.error.toModel();
console.log(`A second note of that name is a ${error_type}: ${next_action_hint}`);
assert.equal(error_type, "path_conflict");

await runtime.call(capabilitiesTools.capabilities_refresh, {});
const inventory = readFileSync(join(folder, ".toolwright/capabilities.md"), "utf8");
console.log(`For later system prompts:\n${inventory.trim()}`);
assert.match(inventory, /- \*\*Context\*\*: /);

rmSync(folder, { recursive: true });
