/** Runs the agent once, and prints its answer or what it waits for. */
import { createRuntime } from "toolwright";
import { recordModel } from "toolwright/ai-sdk";
import { runAgent } from "./agent.ts";
import { createModel } from "./model.ts";

const [runId = "monday", prompt = "Order 2 apples and 50 pears."] = process.argv.slice(2);

const runtime = createRuntime({ store: "toolwright.db" });
try {
  const { text, pending } = await runAgent(runtime, { model: recordModel(createModel()), runId, prompt });
  if (text !== "") console.log(text);
  for (const { id, prompt: question } of pending) {
    console.log(`Waits for approval: ${question}`);
    console.log(`Decide with: npx toolwright approve ${id}`);
  }
  if (pending.length > 0) console.log("Then run the same command again.");
} finally {
  await runtime.close();
}
