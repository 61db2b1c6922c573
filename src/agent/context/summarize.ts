/** The note that replaces exchanges left out: a summary by the model, and the handles of their calls. */
import { type AgentMessage, textOf } from "../../model/messages.ts";
import { ALL_CALLS } from "../tools/tool-response.ts";

const INSTRUCTIONS =
  "You compress the history of an agent's work so that the agent can continue without it. Keep the goal, facts, numbers, names, decisions and open questions. Leave out pleasantries. Answer with the summary only.";

const LONGEST_MESSAGE = 2_000;

/** The request for a summary. @param before the current summary */
export function summaryRequest(
  before: string,
  dropped: readonly AgentMessage[],
  maxChars: number,
): { system: string; messages: AgentMessage[] } {
  const longest = Math.max(
    200,
    Math.min(LONGEST_MESSAGE, Math.floor(maxChars / Math.max(1, dropped.length))),
  );
  const lines = dropped.map((message) => `${message.role}: ${shown(message, longest)}`);
  const text = [...(before === "" ? [] : [before]), ...lines].join("\n").slice(0, maxChars).toWellFormed();
  return {
    system: INSTRUCTIONS,
    messages: [{ role: "user", content: `Summarise this part of the history:\n\n${text}` }],
  };
}

function shown(message: AgentMessage, longest: number): string {
  const calls = (message.tool_calls ?? []).map(
    ({ function: { name, arguments: text } }) => `${name}(${text})`,
  );
  return [textOf(message), ...calls]
    .filter((part) => part !== "")
    .join(" ")
    .slice(0, longest);
}

/**
 * @param summary by the model, or `""`
 * @param before the current note, whose handles stay
 * @param maxChars the limit: a note must not fill the window
 */
export function summaryNote(
  summary: string,
  before: string,
  dropped: readonly AgentMessage[],
  maxChars: number,
): string {
  const handles = [...handlesIn(before), ...dropped.flatMap(handleOf)];
  const room = Math.floor(maxChars / 2 / LENGTH_OF_HANDLE);
  const most = Math.min(MOST_HANDLES, Math.max(2 * FIRST_HANDLES, room));
  const isAll = handles.length <= most;
  const shown = isAll
    ? handles
    : [...handles.slice(0, FIRST_HANDLES), LEFT_OUT, ...handles.slice(FIRST_HANDLES - most)];
  return [
    "[Earlier parts of this conversation are not shown any more.]",
    ...(summary === ""
      ? []
      : [
          summary
            .trim()
            .slice(0, maxChars / 2)
            .toWellFormed(),
        ]),
    ...(handles.length === 0 ? [] : [HANDLES, ...shown]),
  ].join("\n");
}

/** The beginning often states the task; of the rest, the end matters most. */
const FIRST_HANDLES = 8;
/** Every request sends the list, and every turn stores it. */
const MOST_HANDLES = 100;
const LENGTH_OF_HANDLE = 80;
const HANDLES = "[Results of these calls can be read with get_tool_response:]";
const LEFT_OUT = `(and more: get_tool_response {"executionId":"${ALL_CALLS}"} lists them all)`;
const HANDLE = /^- \S+ \{"executionId":"[^"]+"\}$/;

function handleOf({ role, name, executionId }: AgentMessage): string[] {
  return role === "tool" && executionId !== undefined
    ? [`- ${name ?? "tool"} ${JSON.stringify({ executionId })}`]
    : [];
}

/** Reads only our list at the end, not the text of the model above it. */
function handlesIn(note: string): string[] {
  const [, ...lists] = note.split(`\n${HANDLES}\n`);
  return (lists.at(-1) ?? "").split("\n").filter((line) => HANDLE.test(line));
}
