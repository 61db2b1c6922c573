/** Errors as data for programs and people. */
import { decodeError } from "../invoke/error-record.ts";
import type { RunError } from "../runtime/runs.ts";

export function errorOf(json: string | null): RunError | null {
  return json === null ? null : describeError(decodeError(json));
}

export function describeError({ code, message, hint, details }: RunError): RunError {
  return { code, message, hint, details };
}
