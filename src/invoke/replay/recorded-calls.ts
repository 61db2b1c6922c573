/**
 * The recorded calls of one task and attempt. A call of the replay gets the outcome of the call with its key, else of one with
 * equal arguments, else of the next one of the same tool: then its arguments have changed.
 */
import { decode } from "../../util/encode.ts";
import type { Call } from "../call.ts";
import { writeArguments } from "../call-text.ts";
import { storableUnparsedInput } from "../storable.ts";
import { compare, type FieldDifference, isEqual, type KnownMarks } from "./compare.ts";
import type { FixtureCall } from "./fixture.ts";

export interface RecordedCall {
  readonly call: FixtureCall;
  /** Its logged arguments. */
  readonly input: unknown;
  isUsed: boolean;
}

export interface MatchedCall {
  readonly recorded: RecordedCall;
  readonly differences: readonly FieldDifference[];
}

export class RecordedCalls {
  readonly all: readonly RecordedCall[];
  readonly #byKey = new Map<string, RecordedCall>();
  readonly #known: KnownMarks;
  #byText: Map<string, RecordedCall[]> | undefined;

  constructor(calls: readonly FixtureCall[], known: KnownMarks) {
    this.#known = known;
    this.all = calls.map((call) => ({ call, input: decodeJson(call.input), isUsed: false }));
    for (const one of this.all) this.#byKey.set(one.call.key, one);
  }

  byKey(key: string): RecordedCall | undefined {
    return this.#byKey.get(key);
  }

  /** `undefined` when the recorded run has no further call of the tool. */
  match(call: Call): MatchedCall | undefined {
    const same = this.#byKey.get(call.key) ?? this.#withText(call);
    if (same !== undefined) return { recorded: same, differences: [] };
    const ofTool = this.all.filter((one) => !one.isUsed && one.call.tool === call.spec.name);
    const shown = storableUnparsedInput(call.spec, call.args, call.host.store.secret);
    const fits = ({ input }: RecordedCall): boolean =>
      isEqual(input, call.args, this.#known) || isEqual(input, shown, this.#known);
    const equal = ofTool.find(fits);
    if (equal !== undefined) return { recorded: equal, differences: [] };
    const [next] = ofTool;
    if (next === undefined) return undefined;
    return { recorded: next, differences: compare(next.input, shown, this.#known, "input") };
  }

  #withText({ argsText }: Call): RecordedCall | undefined {
    this.#byText ??= this.#index();
    return this.#byText.get(argsText)?.find(({ isUsed }) => !isUsed);
  }

  #index(): Map<string, RecordedCall[]> {
    const byText = new Map<string, RecordedCall[]>();
    for (const one of this.all) {
      const { text } = writeArguments(one.call.tool, one.input);
      byText.set(text, [...(byText.get(text) ?? []), one]);
    }
    return byText;
  }
}

/** A value of a fixture. */
export function decodeJson(value: unknown): unknown {
  return value === undefined ? undefined : decode(JSON.stringify(value));
}
