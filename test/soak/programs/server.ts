/** Toolwright's HTTP API, with a workflow that it runs itself. */
import { serve } from "../../../src/server/index.ts";
import { createTools, endFor, openRuntime, readInput, reportReady, TOKEN } from "./soak-process.ts";
import { createStepsWorkflow } from "./steps-workflow.ts";

const input = readInput();
const runtime = openRuntime(input);
const workflow = createStepsWorkflow("served-workflow", createTools(input.shopUrl));
try {
  await runtime.ready();
  const server = await serve({
    runtime,
    port: 0,
    tokens: [{ name: "operator", token: TOKEN, scopes: ["read", "decide", "operate"] }],
    workflows: { "served-workflow": workflow },
  });
  process.once("SIGTERM", () => {
    void server
      .close()
      .then(() => runtime.close())
      .then(() => process.exit(0), endFor);
  });
  reportReady(server.url);
} catch (error) {
  endFor(error);
}
