/** Errors on their way into the log and back: whatever was thrown becomes one shape, without secrets and without stacks. */
import { ERROR_CODES, type Effect, type ErrorCode, ToolwrightError } from "../errors.ts";
import type { ToolSpec } from "../definition/tool-spec.ts";
import { toldCopy, wasTold } from "./told-errors.ts";
import { createScrubber } from "./redact.ts";

/** What a tool threw, as a ToolwrightError. Whatever it is: looking at it must not do more harm. */
export function toToolwrightError(thrown: unknown, toolName: string): ToolwrightError {
  try {
    if (thrown instanceof ToolwrightError) return thrown;
    // From another copy of the package, or something that only looks like one: taken for what it says.
    if (ToolwrightError.is(thrown)) {
      const error = fromFields(thrown as unknown as Record<string, unknown>);
      return wasTold(thrown) ? toldCopy(error) : error;
    }
    return new ToolwrightError("TOOL_EXECUTION_FAILED", messageOf(thrown), {
      details: { tool: toolName, ...(thrown instanceof Error ? { name: thrown.name } : {}) },
      effect: effectOf(thrown),
      cause: thrown,
    });
  } catch {
    // A proxy or a getter that throws: that something was thrown is all that can be said.
    return new ToolwrightError("TOOL_EXECUTION_FAILED", UNREADABLE, {
      details: { tool: toolName },
    });
  }
}

function fromFields(fields: Readonly<Record<string, unknown>>): ToolwrightError {
  const { code, message, hint, retryable, effect, details } = fields;
  const known = isCode(code) ? code : "TOOL_EXECUTION_FAILED";
  return new ToolwrightError(known, typeof message === "string" ? message : textOf(message), {
    ...(typeof hint === "string" ? { hint } : {}),
    retryable: retryable === true,
    effect: effect === "none" || effect === "happened" ? effect : undefined,
    details: typeof details === "object" && details !== null ? { ...details } : {},
  });
}

/** A tool's own word that nothing happened. Anything else leaves it open. */
function effectOf(thrown: unknown): Effect | undefined {
  const effect =
    typeof thrown === "object" && thrown !== null && "effect" in thrown ? thrown.effect : undefined;
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
    return JSON.stringify(value) ?? String(value);
  } catch {
    // Circular or a BigInt: the type is all that can be said.
    return `a ${typeof value} was thrown`;
  }
}

/** A call, as far as its secrets are concerned. */
interface SecretsOf {
  readonly spec: ToolSpec;
  readonly args: unknown;
  readonly input: unknown;
}

/** The error as it is stored and, decoded, as every later caller gets it. */
export function encodeError(error: ToolwrightError, call: SecretsOf): string {
  const clean = createScrubber(call.spec, call.args, call.input);
  return JSON.stringify({
    code: error.code,
    message: clean(error.message),
    hint: clean(error.hint),
    retryable: error.retryable,
    ...(error.effect === undefined ? {} : { effect: error.effect }),
    details: safeDetails(error.details, clean),
  });
}

export function decodeError(text: string): ToolwrightError {
  return fromFields(JSON.parse(text) as Record<string, unknown>);
}

/** The same error without the secrets of the call, for those who are told of it now. */
export function cleanError(error: ToolwrightError, call: SecretsOf): ToolwrightError {
  return call.spec.redactInput.length === 0 ? error : decodeError(encodeError(error, call));
}

function safeDetails(details: Readonly<Record<string, unknown>>, clean: (text: string) => string): unknown {
  try {
    return JSON.parse(clean(JSON.stringify(details)));
  } catch {
    // Details are extra: what cannot be written is left out rather than losing the error itself.
    return {};
  }
}

function isCode(code: unknown): code is ErrorCode {
  return typeof code === "string" && Object.hasOwn(ERROR_CODES, code);
}
