/** What `invoke` is given, looked at before anything is done with it. */
import { nearestName } from "../definition/option-checks.ts";
import { refusal } from "../runtime/options.ts";
import { checkAgentMessages, type KnownMessages } from "../model/messages.ts";
import type { AgentInput } from "./state.ts";

/** @throws TOOL_OPTION_INVALID */
export function checkInput(input: unknown, memory: KnownMessages): asserts input is AgentInput {
  if (typeof input !== "object" || input === null) {
    throw refusal(
      "input",
      'must be an object such as { messages: [{ role: "user", content: "Hello" }] }, or a state',
    );
  }
  refuseSlips(input);
  const { messages, runId, toolHistory } = input as Record<string, unknown>;
  if (runId !== undefined && typeof runId !== "string") throw refusal("runId", "must be a text");
  if (messages === undefined && runId === undefined)
    throw refusal("input", "needs messages, or the id of a run to go on with");
  if (messages !== undefined) checkAgentMessages(messages, memory);
  if (Array.isArray(messages) && messages.length === 0)
    throw refusal("messages", "must hold at least one message");
  if ("stop" in input && "state" in input)
    throw refusal("input", "is the result of an invoke; its `state` is what goes on with it");
  if (toolHistory !== undefined && !(Array.isArray(toolHistory) && toolHistory.every(isEntry)))
    throw refusal("state", "has a toolHistory that is no list of calls");
}

const FIELDS: readonly string[] = ["messages", "runId"];

/** A state may carry fields of its keeper's own; a misspelt `runId` would start another run. */
function refuseSlips(input: object): void {
  for (const name of Object.keys(input)) {
    const meant = FIELDS.includes(name) ? undefined : nearestName(name, FIELDS);
    if (meant !== undefined)
      throw refusal("input", `has an unknown field "${name}". Did you mean "${meant}"?`);
  }
}

function isEntry(entry: unknown): boolean {
  return (
    typeof entry === "object" &&
    entry !== null &&
    "executionId" in entry &&
    typeof entry.executionId === "string"
  );
}
