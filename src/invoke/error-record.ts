/**
 * The one place where an error is read, copied, stored and read back. Whatever was thrown becomes one shape, without
 * secrets and without stacks, and what a caller gets live is what a replay gives: code, hint, details and all.
 */
import { sharedByCopies } from "../definition/package-copy.ts";
import {
  type Effect,
  type ErrorCode,
  type LoggedWords,
  ToolwrightError,
  type ToolwrightErrorOptions,
} from "../errors.ts";
import { decode, encode } from "../util/encode.ts";
import { toShownJson, toShownText } from "../util/shown-value.ts";
import { hidesSomething } from "./storable.ts";
import { createScrubber, type HiddenValues } from "./scrub.ts";

/** What a tool threw, as a ToolwrightError. */
export function toToolwrightError(thrown: unknown, toolName: string): ToolwrightError {
  return wrapThrown(thrown, "TOOL_EXECUTION_FAILED", { details: { tool: toolName } });
}

/** Whatever was thrown, with its own fields, under the code of whoever reports it. Reading it must not throw again. */
export function wrapThrown(
  thrown: unknown,
  code: ErrorCode,
  { details, hint }: Pick<ToolwrightErrorOptions, "details" | "hint"> = {},
): ToolwrightError {
  try {
    if (thrown instanceof ToolwrightError) return thrown;
    // From another copy of the package, or something that only looks like one: taken for what it says.
    if (ToolwrightError.is(thrown)) {
      const error = fromFields(thrown as unknown as Record<string, unknown>);
      return told.has(thrown) ? toldCopy(error) : error;
    }
    const own = ownFields(thrown);
    return new ToolwrightError(code, messageOf(thrown), {
      details: { ...details, ...own.details },
      hint: own.hint ?? hint,
      retryable: own.retryable,
      effect: own.effect,
      cause: thrown,
    });
  } catch {
    // A proxy or a getter that throws: that something was thrown is all that can be said.
    return new ToolwrightError(code, UNREADABLE, { details, hint });
  }
}

/** A code and the like are short; a longer one is cut, so that an error cannot fill the log. */
const LONGEST_FIELD = 200;
const LONGEST_HINT = 2_000;

/** What the errors of services and SDKs say beside their message, under the names that they use for it. */
function ownFields(thrown: unknown): {
  readonly details: Readonly<Record<string, string | number>>;
  readonly hint: string | undefined;
  readonly retryable: boolean;
  readonly effect: Effect | undefined;
} {
  const fields = typeof thrown === "object" && thrown !== null ? (thrown as Record<string, unknown>) : {};
  const name = thrown instanceof Error ? thrown.name : undefined;
  const { code, status = fields["statusCode"], error_type, retryable, effect } = fields;
  const { next_action_hint: nextHint, hint } = fields;
  const details: Record<string, string | number> = {};
  // Of an object without a message, all fields are in the message already.
  const shown = "message" in fields ? { name, code, status, error_type } : {};
  for (const [field, value] of Object.entries(shown)) {
    if (typeof value === "number" && Number.isFinite(value)) details[field] = value;
    if (typeof value === "string" && value !== "") details[field] = cut(value, LONGEST_FIELD);
  }
  const said = [nextHint, hint].find((text) => typeof text === "string" && text !== "");
  return {
    details,
    hint: typeof said === "string" ? cut(said, LONGEST_HINT) : undefined,
    retryable: retryable === true,
    effect: asEffect(effect),
  };
}

function fromFields(fields: Readonly<Record<string, unknown>>): ToolwrightError {
  const { code, message, hint, retryable, effect, details, logged } = fields;
  // A tool's own code is as good as ours.
  const known = typeof code === "string" && code !== "" ? cut(code, LONGEST_FIELD) : "TOOL_EXECUTION_FAILED";
  return new ToolwrightError(known, typeof message === "string" ? message : textOf(message), {
    ...(typeof hint === "string" ? { hint } : {}),
    retryable: retryable === true,
    effect: asEffect(effect),
    details: typeof details === "object" && details !== null ? { ...details } : {},
    logged: isLoggedWords(logged) ? logged : undefined,
  });
}

function isLoggedWords(value: unknown): value is LoggedWords {
  if (typeof value !== "object" || value === null || !("message" in value && "hint" in value)) return false;
  return typeof value.message === "string" && typeof value.hint === "string";
}

/** A tool's own word about its effect. Anything else leaves it open. */
function asEffect(effect: unknown): Effect | undefined {
  return effect === "none" || effect === "happened" ? effect : undefined;
}

/** Whatever was thrown: a proxy or a getter that throws has no message. */
export function messageOf(thrown: unknown): string {
  try {
    return readMessage(thrown);
  } catch {
    return UNREADABLE;
  }
}

const UNREADABLE = "Something was thrown that cannot be looked at.";

function readMessage(thrown: unknown): string {
  if (typeof thrown === "string") return thrown;
  if (typeof thrown === "object" && thrown !== null && "message" in thrown) {
    const { message } = thrown;
    if (typeof message !== "string") return textOf(message);
    return message === "" && thrown instanceof Error ? thrown.name : message;
  }
  return textOf(thrown);
}

function textOf(value: unknown): string {
  try {
    if (typeof value === "symbol" || typeof value === "bigint" || value === undefined) return String(value);
    return toShownText(value);
  } catch {
    return `a ${typeof value} was thrown`;
  }
}

function cut(text: string, longest: number): string {
  return text.length <= longest ? text : `${text.slice(0, longest - 1).toWellFormed()}…`;
}

/** What a copy may say differently. Everything else, the stack included, is the original's. */
export interface ErrorChanges {
  readonly message?: string;
  readonly hint?: string;
  readonly effect?: Effect | undefined;
  readonly cause?: unknown;
  readonly logged?: LoggedWords | undefined;
}

/** The error as a replay gives it, for those who keep it beside the log. */
export function storedError(error: ToolwrightError): ToolwrightError {
  return error.logged === undefined ? error : copyError(error, { ...error.logged, logged: undefined });
}

export function copyError(error: ToolwrightError, changes: ErrorChanges = {}): ToolwrightError {
  const { code, message, details, hint, retryable, effect, cause, logged } = error;
  const fields = { details, hint, retryable, effect, cause, logged, ...changes };
  const copy = new ToolwrightError(code, changes.message ?? message, fields);
  if (error.stack !== undefined) copy.stack = error.stack;
  return copy;
}

// Errors that callers received as the end of a call. Our own copies only: the object that a tool threw may be thrown
// again, and then it is the tool's own word. Shared, since a tool may be called through another copy of the package.
const told = sharedByCopies("reported errors.1", () => new WeakSet<object>());

/** A copy that is known to have ended a call. */
export function toldCopy(error: ToolwrightError, changes?: ErrorChanges): ToolwrightError {
  const copy = copyError(error, changes);
  told.add(copy);
  return copy;
}

/** That an inner call did nothing says nothing about the call around it, which may have done something before. */
export function withoutInnerEffect(error: ToolwrightError): ToolwrightError {
  return told.has(error) ? copyError(error, { effect: undefined, cause: error }) : error;
}

/** A call, as far as its secrets are concerned. */
interface SecretsOf extends Pick<HiddenValues, "spec" | "args" | "input"> {
  readonly outputJson?: string | undefined;
}

/** The error of a call as it is stored and, decoded, as every later caller gets it. */
export function encodeError(error: ToolwrightError, call: SecretsOf): string {
  const { spec, args, input, outputJson } = call;
  const isOutputUnfit = error.code === "TOOL_OUTPUT_INVALID";
  const output = outputJson === undefined ? undefined : decode(outputJson);
  return encodeCleanError(error, createScrubber({ spec, args, input, output, isOutputUnfit }));
}

/** An error that is no call's own, such as a task's: it holds nothing that has to be hidden, or hides it already. */
export function encodeCleanError(
  error: ToolwrightError,
  clean: (text: string) => string = (text) => text,
): string {
  const { message, hint } = error.logged ?? error;
  return encode({
    code: clean(error.code),
    message: clean(message),
    hint: clean(hint),
    retryable: error.retryable,
    ...(error.effect === undefined ? {} : { effect: error.effect }),
    details: storableDetails(error.details, clean),
  });
}

export function decodeError(text: string): ToolwrightError {
  return fromFields(readStored(text) as Record<string, unknown>);
}

function readStored(text: string): unknown {
  try {
    return decode(text);
  } catch {
    // Version 0.1 stored details as plain JSON, in which a `$type` of the tool's own is no tag.
    return JSON.parse(text);
  }
}

/**
 * What a caller gets now: the stored form, so that a replay is the same. Only those who are there now get the stack, the
 * cause, and the words that are not stored.
 */
export function cleanError(error: ToolwrightError, call: SecretsOf): ToolwrightError {
  const stored = decodeError(encodeError(error, call));
  const { logged } = error;
  // Both would show what `redact` hides.
  const cause = hidesSomething(call.spec) ? undefined : error.cause;
  const words = logged === undefined ? {} : { message: error.message, hint: error.hint, logged };
  const copy = copyError(stored, { cause, ...words });
  if (hidesSomething(call.spec)) return copy;
  if (error.stack !== undefined) copy.stack = error.stack;
  return copy;
}

function storableDetails(
  details: Readonly<Record<string, unknown>>,
  clean: (text: string) => string,
): Record<string, unknown> {
  const entries = Object.entries(details).flatMap(([name, value]): [string, unknown][] => {
    if (value === undefined) return [];
    try {
      return [[name, decode(clean(encode(value)))]];
    } catch {
      // Details are extra: what cannot be stored is shown as far as it can be, rather than losing the error itself.
      return [[name, shownSafely(value, clean)]];
    }
  });
  return Object.fromEntries(entries);
}

function shownSafely(value: unknown, clean: (text: string) => string): unknown {
  try {
    return JSON.parse(clean(toShownJson(value))) as unknown;
  } catch {
    return "[unreadable]";
  }
}
