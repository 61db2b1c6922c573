/**
 * Calls in the content of an answer, as some providers have them beside the list of calls. Their inputs stand in the message
 * itself, where they can be covered and shortened; here they are left out, and put in again when the message is sent.
 */
import { parseInput } from "../util/parse-input.ts";
import type { AgentMessage } from "./messages.ts";

type Block = Readonly<Record<string, unknown>>;

/** By the field that holds the input. Other blocks that hold one are not kept: models are told of calls by the list. */
const INPUT_FIELDS: Readonly<Record<string, string>> = { tool_use: "input", tool_call: "args" };
const NOT_KEPT: ReadonlySet<unknown> = new Set(["input_json_delta", "functionCall", "function_call"]);

/** @param ids of the calls: as they came, and as they are called now */
export function withoutInputs(
  content: readonly unknown[],
  ids: readonly (readonly [given: unknown, id: string])[],
): unknown[] {
  const left = [...ids];
  return (JSON.parse(JSON.stringify(content)) as Block[]).flatMap((block): unknown[] => {
    const type = block?.["type"];
    if (NOT_KEPT.has(type)) return [];
    const field = INPUT_FIELDS[String(type)];
    if (field === undefined) return [block];
    const place = left.findIndex(([given]) => given === block["id"]);
    const [found] = place < 0 ? [] : left.splice(place, 1);
    const { [field]: _input, ...rest } = block;
    return found === undefined ? [] : [{ ...rest, id: found[1] }];
  });
}

export function withInputs(
  content: readonly unknown[],
  calls: NonNullable<AgentMessage["tool_calls"]>,
): unknown[] {
  return (content as readonly Block[]).map((block) => {
    const field = INPUT_FIELDS[String(block?.["type"])];
    const call = field === undefined ? undefined : calls.find(({ id }) => id === block["id"]);
    if (field === undefined || call === undefined) return block;
    return { ...block, [field]: parseInput(call.function.arguments)?.value ?? {} };
  });
}
