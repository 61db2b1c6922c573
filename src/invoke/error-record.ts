/**
 * Reads, copies, encodes and decodes errors. Every thrown value becomes a ToolwrightError. Its stored form has no secrets
 * and no stack, and a live caller gets the same code, message, hint and details as a replay.
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

/** Converts the error that a tool threw. */
export function toToolwrightError(thrown: unknown, toolName: string): ToolwrightError {
  return wrapThrown(thrown, "TOOL_EXECUTION_FAILED", { details: { tool: toolName } });
}

/** Wraps any thrown value, with its own fields, under the reporter's code. Reading the value must not throw again. */
export function wrapThrown(
  thrown: unknown,
  code: ErrorCode,
  { details, hint }: Pick<ToolwrightErrorOptions, "details" | "hint"> = {},
): ToolwrightError {
  try {
    if (thrown instanceof ToolwrightError) return thrown;
    // From another copy of the package, or an object that looks like our error: copy its fields.
    if (ToolwrightError.is(thrown)) {
      const error = fromFields(thrown as unknown as Record<string, unknown>);
      return reported.has(thrown) ? reportedCopy(error) : error;
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
    // A proxy or a getter that throws: nothing more is known.
    return new ToolwrightError(code, UNREADABLE, { details, hint });
  }
}

/** Longer fields are truncated, so that an error cannot fill the log. */
const LONGEST_FIELD = 200;
const LONGEST_HINT = 2_000;

/** The fields besides the message that errors of services and SDKs commonly have. */
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
  // An error without a message gets one that already shows all its fields.
  const shown = "message" in fields ? { name, code, status, error_type } : {};
  for (const [field, value] of Object.entries(shown)) {
    if (typeof value === "number" && Number.isFinite(value)) details[field] = value;
    if (typeof value === "string" && value !== "") details[field] = cut(value, LONGEST_FIELD);
  }
  const ownHint = [nextHint, hint].find((text) => typeof text === "string" && text !== "");
  return {
    details,
    hint: typeof ownHint === "string" ? cut(ownHint, LONGEST_HINT) : undefined,
    retryable: retryable === true,
    effect: asEffect(effect),
  };
}

function fromFields(fields: Readonly<Record<string, unknown>>): ToolwrightError {
  const { code, message, hint, retryable, effect, details, logged } = fields;
  // A tool may have its own codes.
  const ownCode =
    typeof code === "string" && code !== "" ? cut(code, LONGEST_FIELD) : "TOOL_EXECUTION_FAILED";
  return new ToolwrightError(ownCode, typeof message === "string" ? message : textOf(message), {
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

/** What a tool reports about its effect. Any other value leaves the effect in doubt. */
function asEffect(effect: unknown): Effect | undefined {
  return effect === "none" || effect === "happened" ? effect : undefined;
}

/** Never throws, even for a proxy or a getter that does. */
export function messageOf(thrown: unknown): string {
  try {
    return readMessage(thrown);
  } catch {
    return UNREADABLE;
  }
}

const UNREADABLE = "Unknown error: the thrown value cannot be read.";

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

/** The fields that a copy may change. All other fields, and the stack, stay as in the original. */
export interface ErrorChanges {
  readonly message?: string;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly hint?: string;
  readonly effect?: Effect | undefined;
  readonly cause?: unknown;
  readonly logged?: LoggedWords | undefined;
}

/** The error as a replay returns it, for code that stores it outside the log. */
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

// Errors that callers received as the outcome of a call. Only our own copies: a tool may throw its own error object again,
// and then `effect` is its own report. Shared, since a tool may be called through another copy of the package.
const reported = sharedByCopies("reported errors.1", () => new WeakSet<object>());

/** A copy that is registered as the outcome of a call. */
export function reportedCopy(error: ToolwrightError, changes?: ErrorChanges): ToolwrightError {
  const copy = copyError(error, changes);
  reported.add(copy);
  return copy;
}

/** An inner call without an effect proves nothing about the enclosing call, which may have had one before. */
export function withoutInnerEffect(error: ToolwrightError): ToolwrightError {
  return reported.has(error) ? copyError(error, { effect: undefined, cause: error }) : error;
}

/** The fields of a call that may contain secrets. */
interface SecretsOf extends Pick<HiddenValues, "spec" | "args" | "input"> {
  readonly outputJson?: string | undefined;
}

/** The stored form of a call's error, which every later caller receives. */
export function encodeError(error: ToolwrightError, call: SecretsOf): string {
  const { spec, args, input, outputJson } = call;
  const isOutputUnfit = error.code === "TOOL_OUTPUT_INVALID";
  const output = outputJson === undefined ? undefined : decode(outputJson);
  return encodeCleanError(error, createScrubber({ spec, args, input, output, isOutputUnfit }));
}

/** For an error that belongs to no call, such as a task's: it contains no secrets, or they are already redacted. */
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
    // Version 0.1 stored details as plain JSON, in which `$type` may be a field of the tool.
    return JSON.parse(text);
  }
}

/**
 * The error for the live caller: the stored form, so that a replay is the same. Only the live caller also gets the stack, the
 * cause, and a message that is not stored.
 */
export function cleanError(error: ToolwrightError, call: SecretsOf): ToolwrightError {
  const stored = decodeError(encodeError(error, call));
  const { logged } = error;
  // The cause and the stack would reveal values that `redact` hides.
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
      // Details are optional: one that cannot be stored is shown as JSON, so that the error itself is not lost.
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
