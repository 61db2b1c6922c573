/**
 * Redacts requests and responses once a resume no longer needs them: arguments and results of each call are
 * replaced by the logged ones, and hidden values are removed from every other text.
 */
import { toShownValue } from "../../util/shown-value.ts";
import { createScrubber, type Scrub } from "../scrub.ts";
import { isContentDigest } from "../content-digest.ts";
import type { FoundValue } from "./find-hidden.ts";
import { hide, HiddenValues, isHidden, isRecord, mayBe } from "./hidden-values.ts";

/** A call as it is logged. */
export interface LoggedValues {
  readonly toolCallId: string | null;
  /** `undefined` if nothing was logged. */
  readonly input: unknown;
  readonly output: unknown;
}

export class Redaction {
  /** Models reuse ids, so several calls may have one. */
  readonly #calls: ReadonlyMap<string, readonly LoggedValues[]>;
  /** Calls of tools of other libraries: they hide nothing. */
  readonly #foreign = new Set<string>();
  readonly #hidden = new HiddenValues();
  #scrub: Scrub | undefined;

  constructor(calls: readonly LoggedValues[]) {
    const withId = calls.filter(({ toolCallId }) => toolCallId !== null);
    this.#calls = Map.groupBy(withId, ({ toolCallId }) => toolCallId ?? "");
  }

  /** Whether anything was hidden so far. */
  get hidesSomething(): boolean {
    return !this.#hidden.isEmpty;
  }

  /** Values that are hidden wherever they are found. */
  addHidden(values: readonly FoundValue[]): void {
    for (const { value, mark } of values) this.#hidden.add(value, mark);
  }

  /** First for all requests: a call that is not logged, and has a result there, was run by the AI SDK or its provider. */
  noteResults(value: unknown): void {
    if (Array.isArray(value)) for (const item of value) this.noteResults(item);
    if (!isRecord(value)) return;
    const { type, toolCallId, output } = value;
    // The SDK itself refuses invalid arguments of our tools. Their results are errors, and must not count here.
    const isError = isRecord(output) && String(output["type"]).startsWith("e");
    if (type === "tool-result" && typeof toolCallId === "string" && !isError) this.#foreign.add(toolCallId);
    else for (const item of Object.values(value)) this.noteResults(item);
  }

  /** Then for all responses and requests: finds the hidden values, and replaces them where a call names them. */
  hideInCalls(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((item) => this.hideInCalls(item));
    if (!isRecord(value)) return value;
    const call = callIn(value);
    if (call !== undefined) return call.withInput(this.#hideInput(call.id, call.input));
    const result = resultIn(value);
    if (result !== undefined) return result.withOutput(this.#hideOutput(result.id, result.output));
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, this.hideInCalls(item)]));
  }

  /** Then for each of them: removes the hidden values from all other texts. */
  hideInTexts(value: unknown): unknown {
    if (!this.hidesSomething) return value;
    const { marks } = this.#hidden;
    const scrub = (this.#scrub ??= createScrubber({ args: longTexts(marks), input: null, spec: ANY_FIELD }));
    const change = (item: unknown): unknown => {
      if (typeof item === "string") return marks.get(item) ?? scrub(item);
      if (typeof item === "number" || typeof item === "bigint") return marks.get(String(item)) ?? item;
      if (Array.isArray(item)) return joinDeltas(item).map(change);
      if (!isRecord(item)) return item;
      return Object.fromEntries(Object.entries(item).map(([name, inner]) => [name, change(inner)]));
    };
    return change(value);
  }

  #hideInput(id: string, input: unknown): unknown {
    const logged = (this.#calls.get(id) ?? []).flatMap((call) => call.input ?? []);
    const [own] = logged.length > 1 ? logged.filter((one) => mayBe(input, one)) : logged;
    if (own !== undefined) return hide(input, own, this.#hidden, true);
    // The call was not logged, because it was cut off or refused, so the values that its tool hides are unknown.
    if (!this.#foreign.has(id)) this.#hidden.add(input);
    return input;
  }

  #hideOutput(id: string, output: unknown): unknown {
    const logged = (this.#calls.get(id) ?? []).map((call) => toShownValue(call.output));
    if (logged.length < 2) return logged.length === 0 ? output : hide(output, logged[0], this.#hidden, false);
    const own = logged.find((one) => mayBe(output, one));
    if (own !== undefined) return hide(output, own, this.#hidden, false);
    this.#hidden.add(output);
    return output;
  }
}

/** Whether a redacted response requests this call with arguments that are no longer known. */
export function hasRedactedCall(response: unknown, toolCallId: string): boolean {
  if (Array.isArray(response)) return response.some((item) => hasRedactedCall(item, toolCallId));
  if (!isRecord(response)) return false;
  const call = callIn(response);
  if (call !== undefined) return call.id === toolCallId && holdsHidden(call.input);
  return Object.values(response).some((item) => hasRedactedCall(item, toolCallId));
}

/** How many calls with this id a response requests. It may have them in several forms, each of which is a list. */
export function countCalls(response: unknown, toolCallId: string): number {
  if (typeof response !== "object" || response === null) return 0;
  const items: readonly unknown[] = Object.values(response);
  const own = items.filter((item) => isRecord(item) && callIn(item)?.id === toolCallId).length;
  return Math.max(own, ...items.map((item) => countCalls(item, toolCallId)));
}

function holdsHidden(value: unknown): boolean {
  if (isHidden(value)) return true;
  if (typeof value !== "object" || value === null) return false;
  if (isContentDigest(value)) return true;
  return Object.values(value).some(holdsHidden);
}

const ANY_FIELD = { redactInput: ["*"], redactOutput: [] } as never;
/** A shorter one, such as an amount, occurs in many other texts. */
const SHORTEST_INSIDE = 8;

function longTexts(marks: ReadonlyMap<string, string>): string[] {
  return [...marks.keys()].filter((text) => text.length >= SHORTEST_INSIDE);
}

interface FoundCall {
  readonly id: string;
  readonly input: unknown;
  withInput(input: unknown): unknown;
}

/** A call in AI SDK, Anthropic or OpenAI format. */
function callIn(value: Readonly<Record<string, unknown>>): FoundCall | undefined {
  const { type, toolCallId, id, input } = value;
  if (type === "tool-call" && typeof toolCallId === "string" && value["providerExecuted"] !== true)
    return found(toolCallId, input, (hidden) => ({ ...value, input: hidden }));
  if (type === "tool_use" && typeof id === "string")
    return found(id, input, (hidden) => ({ ...value, input: hidden }));
  const { function: named } = value;
  if (typeof id === "string" && isRecord(named) && "arguments" in named)
    return found(id, named["arguments"], (hidden) => ({
      ...value,
      function: { ...named, arguments: hidden },
    }));
  if (typeof id === "string" && typeof value["name"] === "string" && typeof value["arguments"] === "string")
    return found(id, value["arguments"], (hidden) => ({ ...value, arguments: hidden }));
  return undefined;
}

function found(id: string, input: unknown, withInput: (input: unknown) => unknown): FoundCall {
  const { output, withOutput } = inText(input, withInput);
  return { id, input: output, withInput: withOutput };
}

/** Some formats have arguments and results as JSON in a text. */
function inText(
  given: unknown,
  put: (hidden: unknown) => unknown,
): Pick<FoundResult, "output" | "withOutput"> {
  if (typeof given !== "string") return { output: given, withOutput: put };
  let parsed: unknown;
  try {
    parsed = JSON.parse(given);
  } catch {
    return { output: given, withOutput: put };
  }
  if (typeof parsed !== "object") return { output: given, withOutput: put };
  const before = JSON.stringify(parsed);
  return {
    output: parsed,
    withOutput: (hidden) => {
      const after = JSON.stringify(hidden);
      return put(after === before ? given : after);
    },
  };
}

interface FoundResult {
  readonly id: string;
  readonly output: unknown;
  withOutput(output: unknown): unknown;
}

/** A result in an AI SDK, Anthropic or OpenAI message. */
function resultIn(value: Readonly<Record<string, unknown>>): FoundResult | undefined {
  const { type, role, toolCallId, tool_use_id: useId, tool_call_id: callId, output, content } = value;
  if (type === "tool-result" && typeof toolCallId === "string" && isRecord(output))
    return {
      id: toolCallId,
      ...inText(output["value"], (hidden) => ({ ...value, output: { ...output, value: hidden } })),
    };
  const id = type === "tool_result" ? useId : role === "tool" ? callId : undefined;
  if (typeof id !== "string") return undefined;
  const [first] = Array.isArray(content) ? (content as unknown[]) : [];
  if (!isRecord(first) || typeof first["text"] !== "string")
    return { id, ...inText(content, (hidden) => ({ ...value, content: hidden })) };
  const rest = (content as unknown[]).slice(1);
  return {
    id,
    ...inText(first["text"], (hidden) => ({ ...value, content: [{ ...first, text: hidden }, ...rest] })),
  };
}

/** Parts of a stream may cut a hidden value in two: text is joined, and the pieces of arguments are left out. */
function joinDeltas(parts: readonly unknown[]): unknown[] {
  const joined: unknown[] = [];
  for (const part of parts) {
    const type = isRecord(part) ? part["type"] : undefined;
    if (typeof type === "string" && type.startsWith("tool-input-")) continue;
    const last = joined.at(-1);
    const isDelta = type === "text-delta" || type === "reasoning-delta";
    if (isDelta && isRecord(part) && isRecord(last) && last["type"] === type && last["id"] === part["id"])
      joined[joined.length - 1] = { ...last, delta: String(last["delta"]) + String(part["delta"]) };
    else joined.push(part);
  }
  return joined;
}
