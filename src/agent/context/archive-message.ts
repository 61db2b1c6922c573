/** Archived messages: results become a summary and a handle, long arguments a digest. */
import { sha256 } from "../../util/hash.ts";
import { remembered } from "../../util/remembered.ts";
import { parseInput } from "../../tool/parse-input.ts";
import type { AgentMessage, ToolCallMessage } from "../../model/messages.ts";
import type { Retention, SmartAgentOptions } from "../options.ts";

/** A text that is shorter than its summary and handle stays unchanged. */
const SHORTEST_RESULT = 400;
const LONGEST_FIELD = 500;
const HEAD = 160;

interface RetentionRules {
  output(toolName: string): Retention;
  input(toolName: string): "keep" | "digest";
}

function retentionRules({
  defaultPolicy,
  retentionByTool = {},
}: NonNullable<SmartAgentOptions["toolResponses"]>): RetentionRules {
  const of = (name: string) => {
    const rule = Object.hasOwn(retentionByTool, name) ? retentionByTool[name] : undefined;
    return typeof rule === "string" ? { output: rule } : rule;
  };
  return {
    output: (name) => of(name)?.output ?? defaultPolicy ?? "summarize_archive",
    input: (name) => of(name)?.input ?? "digest",
  };
}

/** Returns the message itself if archiving saves nothing. @param handles executionIds by the ids of its calls */
export type Archive = (message: AgentMessage, handles: () => ReadonlyMap<string, string>) => AgentMessage;

interface ArchivedCalls {
  readonly form: AgentMessage;
  /** The executionIds that it names. */
  readonly handles: string;
}

/**
 * Caches by message. Conversations that begin alike share messages, but not the results that follow: the calls of one response have
 * other executionIds in each.
 */
export function createArchive(options: NonNullable<SmartAgentOptions["toolResponses"]>): Archive {
  const rules = retentionRules(options);
  const results = new WeakMap<AgentMessage, AgentMessage>();
  const responses = new WeakMap<AgentMessage, ArchivedCalls>();
  const isLong = ({ function: { name, arguments: text } }: ToolCallMessage): boolean =>
    text.length > LONGEST_FIELD && rules.input(name) === "digest";
  return (message, handlesOf) => {
    if (message.role === "tool")
      return remembered(results, message, () => archivedResult(message, rules.output(message.name ?? "")));
    const long = message.tool_calls?.filter(isLong) ?? [];
    if (long.length === 0) return message;
    const found = handlesOf();
    const handles = long.map(({ id }) => found.get(id)).join();
    const known = responses.get(message);
    if (known?.handles === handles) return known.form;
    const form = archivedCalls(message, long, found);
    responses.set(message, { form, handles });
    return form;
  };
}

function archivedCalls(
  message: AgentMessage,
  long: readonly ToolCallMessage[],
  handles: ReadonlyMap<string, string>,
): AgentMessage {
  const { tool_calls: calls = [] } = message;
  const longOnes = new Set(long);
  const digested = calls.map((call) =>
    longOnes.has(call) ? digestedCall(call, handles.get(call.id)) : call,
  );
  return digested.every((call, index) => call === calls[index])
    ? message
    : { ...message, tool_calls: digested };
}

function archivedResult(message: AgentMessage, policy: Retention): AgentMessage {
  const { content, executionId, name = "tool" } = message;
  if (typeof content !== "string" || executionId === undefined) return message;
  if (policy === "keep_full" || content.length < SHORTEST_RESULT) return message;
  const { format: _format, ...rest } = message;
  const handle = `get_tool_response ${JSON.stringify({ executionId })} returns all of it`;
  if (policy === "keep_structured" && message.format === "json") {
    const shape = JSON.stringify(shortened(parseInput(content)?.value));
    if (shape.length < content.length) return { ...rest, content: `${shape}\n[shortened: ${handle}]` };
    return message;
  }
  const head = policy === "drop" ? "" : ` It begins: ${content.slice(0, HEAD).toWellFormed()}`;
  return {
    ...rest,
    content: `[archived: the result of ${name}, ${content.length} characters; ${handle}.]${head}`,
  };
}

const LONGEST_LIST = 10;

/** The same fields, with long texts and lists shortened. */
function shortened(value: unknown): unknown {
  if (typeof value === "string")
    return value.length > HEAD ? `${value.slice(0, HEAD).toWellFormed()}…` : value;
  if (Array.isArray(value)) {
    const items = value.slice(0, LONGEST_LIST).map(shortened);
    return value.length > LONGEST_LIST ? [...items, `… ${value.length - LONGEST_LIST} more`] : items;
  }
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, shortened(item)]));
}

function digestedCall(call: ToolCallMessage, executionId: string | undefined): ToolCallMessage {
  const { arguments: text } = call.function;
  if (executionId === undefined) return call;
  const input = parseInput(text);
  if (input === undefined) return call;
  const digested = JSON.stringify(digest(input.value, executionId));
  return digested.length < text.length
    ? { ...call, function: { ...call.function, arguments: digested } }
    : call;
}

function digest(value: unknown, executionId: string): unknown {
  if (typeof value === "string") {
    if (value.length <= LONGEST_FIELD) return value;
    const head = value.slice(0, HEAD).toWellFormed();
    return { __digest: { chars: value.length, sha256: sha256(value), head, executionId } };
  }
  if (Array.isArray(value)) return value.map((item) => digest(item, executionId));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, digest(item, executionId)]));
}
