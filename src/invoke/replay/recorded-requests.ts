/** The recorded responses of a fixture, with the requests that they answer. */
import type { AskedModel, StoredRequest } from "../asked-model.ts";
import { isRecord } from "../recording/hidden-values.ts";
import { compare, type FieldDifference, type KnownMarks } from "./compare.ts";
import type { FixtureResponse } from "./fixture.ts";
import { decodeJson } from "./recorded-calls.ts";

export interface ResponseRequest {
  readonly position: number;
  /** The position is derived from the request, so a changed request has another one. */
  readonly isByRequest: boolean;
  readonly requestHash: string;
  /** `undefined` for a value that is not a response, such as the inventory of tools. */
  readonly asked: AskedModel | undefined;
}

export interface MatchedResponse {
  readonly response: FixtureResponse;
  readonly differences: readonly FieldDifference[];
}

interface Recorded {
  readonly response: FixtureResponse;
  /** `undefined` if the request was not recorded. */
  readonly asked: AskedModel | undefined;
  isUsed: boolean;
}

export class RecordedRequests {
  readonly #locations = new Map<string, Recorded[]>();
  readonly #known: KnownMarks;
  #results: Map<string, unknown> | undefined;

  constructor(responses: readonly FixtureResponse[], known: KnownMarks) {
    this.#known = known;
    const groups = Map.groupBy(responses, ({ attempt, path, nodeId }) => `${attempt} ${path} ${nodeId}`);
    for (const [location, group] of groups) this.#locations.set(location, expand(group));
  }

  match(location: string, request: ResponseRequest): MatchedResponse | undefined {
    const recorded = this.#locations.get(location) ?? [];
    const at = recorded.find(({ response }) => response.position === request.position);
    const found = at ?? (request.isByRequest ? this.#nearest(recorded, request) : undefined);
    if (found === undefined) return undefined;
    found.isUsed = true;
    return { response: found.response, differences: this.#differences(found, request) };
  }

  /** The response to an equal request. @param used positions of others */
  findEqual(location: string, asked: AskedModel, used: ReadonlySet<number>): FixtureResponse | undefined {
    const free = this.#locations.get(location)?.filter(({ response }) => !used.has(response.position));
    return free?.find((one) => this.#isEqual(one, asked))?.response;
  }

  unused(): FixtureResponse[] {
    return [...this.#locations.values()]
      .flat()
      .filter(
        ({ isUsed, asked, response }) =>
          !isUsed && (asked !== undefined || response.requestHash !== undefined),
      )
      .map(({ response }) => response);
  }

  resultOf(toolCallId: string): { readonly output: unknown } | undefined {
    this.#results ??= resultsIn([...this.#locations.values()].flat());
    return this.#results.has(toolCallId) ? { output: this.#results.get(toolCallId) } : undefined;
  }

  /** The request that differs least in its number of messages. */
  #nearest(recorded: readonly Recorded[], { asked }: ResponseRequest): Recorded | undefined {
    const free = recorded.filter(({ isUsed }) => !isUsed);
    const equal = free.find((one) => this.#isEqual(one, asked));
    if (equal !== undefined) return equal;
    const distance = (one: Recorded): number =>
      Math.abs((one.asked?.messages.length ?? 0) - (asked?.messages.length ?? 0));
    return free.toSorted((one, other) => distance(one) - distance(other))[0];
  }

  #isEqual(one: Recorded, asked: AskedModel | undefined): boolean {
    return asked !== undefined && one.asked !== undefined && this.#compare(one.asked, asked).length === 0;
  }

  #differences({ asked: expected, response }: Recorded, request: ResponseRequest): FieldDifference[] {
    if (request.asked === undefined) return [];
    if (expected !== undefined) return this.#compare(expected, request.asked);
    const { requestHash } = response;
    if (requestHash === undefined || requestHash === request.requestHash) return [];
    // Without `recording: "keep"` only the hash of a request is stored.
    return [{ path: "hash", expected: requestHash, actual: request.requestHash }];
  }

  #compare(expected: AskedModel, actual: AskedModel): FieldDifference[] {
    return compare(toComparable(expected), toComparable(actual), this.#known);
  }
}

/** Tools by name, so that a path says which one differs. */
function toComparable({ messages, settings }: AskedModel): Readonly<Record<string, unknown>> {
  const { tools, ...rest } = settings;
  if (!Array.isArray(tools)) return { ...settings, messages };
  const named = (tools as unknown[]).map((tool, index): [string, unknown] => [
    isRecord(tool) && typeof tool["name"] === "string" ? tool["name"] : String(index),
    tool,
  ]);
  return { ...rest, tools: Object.fromEntries(named), messages };
}

/** Rebuilds whole requests from their differences. */
function expand(responses: readonly FixtureResponse[]): Recorded[] {
  const asked = new Map<number, AskedModel>();
  const byPosition = new Map(responses.map((one) => [one.position, one]));
  const askedAt = (position: number, depth = 0): AskedModel | undefined => {
    const known = asked.get(position);
    if (known !== undefined) return known;
    const stored = decodeJson(byPosition.get(position)?.request) as StoredRequest | undefined;
    if (stored === undefined || depth > responses.length) return undefined;
    const before = stored.after === undefined ? undefined : askedAt(stored.after, depth + 1);
    const whole = {
      messages: [...(before?.messages.slice(0, stored.shared) ?? []), ...stored.added],
      settings: stored.settings ?? before?.settings ?? {},
    };
    asked.set(position, whole);
    return whole;
  };
  // In this order, so that no chain of differences is followed more than one step at a time.
  const inOrder = responses.toSorted((one, other) => one.position - other.position);
  return inOrder.map((response) => ({ response, asked: askedAt(response.position), isUsed: false }));
}

/** Results of calls, by their ids, in AI SDK messages. */
function resultsIn(recorded: readonly Recorded[]): Map<string, unknown> {
  const results = new Map<string, unknown>();
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) for (const item of value) visit(item);
    if (!isRecord(value)) return;
    const { type, toolCallId, output } = value;
    if (type === "tool-result" && typeof toolCallId === "string") results.set(toolCallId, output);
    else for (const item of Object.values(value)) visit(item);
  };
  for (const { asked } of recorded) visit(asked?.messages);
  return results;
}
