/** Errors that callers were told as the end of a call, and what they still say when they come out of another one. */
import { sharedByCopies } from "../definition/package-copy.ts";
import { ToolwrightError } from "../errors.ts";

// Our own copies only: the object that a tool threw may be thrown again, and then it is the tool's own word. Shared, since
// a tool may have been called through another copy of the package.
const told = sharedByCopies("reported errors.1", () => new WeakSet<object>());

/** A copy that is known to have been told. */
export function toldCopy(
  error: ToolwrightError,
  message = error.message,
  cause = error.cause,
): ToolwrightError {
  const { code, details, hint, retryable, effect } = error;
  const copy = new ToolwrightError(code, message, { details, hint, retryable, effect, cause });
  if (error.stack !== undefined) copy.stack = error.stack;
  told.add(copy);
  return copy;
}

export function wasTold(error: object): boolean {
  return told.has(error);
}

/** That an inner call did nothing says nothing about the call around it, which may have done something before. */
export function withoutInnerEffect(error: ToolwrightError): ToolwrightError {
  if (!told.has(error)) return error;
  const { code, message, details, hint, retryable } = error;
  return new ToolwrightError(code, message, { details, hint, retryable, cause: error });
}
