/**
 * A scripted model, so that the agent runs offline. For a real one, install an AI SDK provider and return its model:
 *
 *   import { anthropic } from "@ai-sdk/anthropic";
 *   export const createModel = () => anthropic("claude-sonnet-5-5");
 */
import { createScriptedModel, type ScriptedModel } from "toolwright/testing";

export function createModel(): ScriptedModel {
  return createScriptedModel(
    [
      // `turn` counts the responses of the conversation, including those from before a restart.
      ({ turn, toolResults }) =>
        turn === 0
          ? [
              { toolName: "place_order", input: { item: "apple", quantity: 2 } },
              { toolName: "place_order", input: { item: "pear", quantity: 50 } },
            ]
          : `Done: ${toolResults.map(({ output }) => JSON.stringify(output)).join(", ")}`,
    ],
    { atEnd: "repeat-last" },
  );
}
