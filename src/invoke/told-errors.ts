/** Errors that callers were told as the end of a call, and what they still say when they come out of another one. */
import { ToolwrightError } from "../errors.ts";

const TOLD = Symbol("told as the end of a call");

export function markAsTold(error: ToolwrightError): ToolwrightError {
  Object.defineProperty(error, TOLD, { value: true });
  return error;
}

/** That an inner call did nothing says nothing about the call around it, which may have done something before. */
export function withoutInnerEffect(error: ToolwrightError): ToolwrightError {
  if (!(TOLD in error)) return error;
  const { code, message, details, hint, retryable } = error;
  return new ToolwrightError(code, message, { details, hint, retryable, cause: error });
}
