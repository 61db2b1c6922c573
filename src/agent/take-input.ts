/** Validates the input of `invoke`, and copies its run id and messages: the caller may change them afterwards. */
import { describe } from "../definition/option-checks.ts";
import { nearestName } from "../definition/nearest-name.ts";
import { refusal } from "../runtime/options.ts";
import type { MessageMemory } from "./message-memory.ts";
import type { AgentInput, AgentState } from "./state.ts";

/**
 * A copy of the input with frozen messages. Synchronous, so that nothing changes between the check and the copy.
 * @throws TOOL_OPTION_INVALID
 */
export function takeInput(given: unknown, memory: MessageMemory): AgentInput {
  checkInput(given);
  const { messages, runId } = given;
  return messages === undefined
    ? { ...given }
    : { ...given, messages: memory.recall(messages, runId).messages };
}

function checkInput(input: unknown): asserts input is AgentInput {
  if (typeof input !== "object" || input === null) {
    throw refusal(
      "input",
      'must be an object such as { messages: [{ role: "user", content: "Hello" }] }, or a state',
    );
  }
  if ("stop" in input && "state" in input)
    throw refusal("input", "is the result of an invoke: pass its `state` to resume");
  refuseSlips(input);
  const { messages, runId, toolHistory } = input as Record<string, unknown>;
  if (runId !== undefined && typeof runId !== "string")
    throw refusal("runId", `must be a string, not ${describe(runId)}`);
  if (messages === undefined && runId === undefined)
    throw refusal("input", "needs messages, or the runId of a run to resume");
  if (Array.isArray(messages) && messages.length === 0)
    throw refusal("messages", "must contain at least one message");
  if (toolHistory !== undefined && !(Array.isArray(toolHistory) && toolHistory.every(isEntry)))
    throw refusal("state", "has a toolHistory that is not a list of calls");
}

const FIELDS: readonly string[] = ["messages", "runId"];
const OTHER_FIELDS_OF_STATE: ReadonlySet<string> = new Set<Exclude<keyof AgentState, "messages" | "runId">>([
  "status",
  "turn",
  "toolHistory",
  "toolCache",
  "toolCallCount",
  "pendingApprovals",
  "plan",
  "planVersion",
  "usage",
  "context",
]);

/** A state may have extra fields of the user; a misspelled `runId` would start another run. */
function refuseSlips(input: object): void {
  const isState = "turn" in input || "toolHistory" in input;
  for (const name of Object.keys(input)) {
    if (FIELDS.includes(name) || (isState && OTHER_FIELDS_OF_STATE.has(name))) continue;
    const meant = nearestName(name, FIELDS);
    if (isState && meant === undefined) continue;
    const rest = meant === undefined ? `It takes ${FIELDS.join(" and ")}.` : `Did you mean "${meant}"?`;
    throw refusal("input", `has an unknown field "${name}". ${rest}`);
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
