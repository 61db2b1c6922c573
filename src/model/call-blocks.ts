/**
 * Tool call blocks in the content of a response, which some providers send alongside the list of calls. Their inputs are removed
 * here, since only the list of calls is redacted and shortened, and restored from it when the message is sent.
 */
import { parseInput } from "../tool/parse-input.ts";
import type { AgentMessage } from "./messages.ts";

type Block = Readonly<Record<string, unknown>>;

/** The types of such blocks, by the field of the input. Other blocks with an input are dropped: the list has the calls. */
const INPUT_FIELDS: Readonly<Record<string, string>> = { tool_use: "input", tool_call: "args" };
const NOT_KEPT: ReadonlySet<unknown> = new Set(["input_json_delta", "functionCall", "function_call"]);

/** @param ids of the calls: as the model sent them, and as they are now */
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
    const index = left.findIndex(([given]) => given === block["id"]);
    const [found] = index < 0 ? [] : left.splice(index, 1);
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
