/** A streamed response that ended before it was complete. Nothing of it counts, and the request can be repeated. */
export class BrokenResponse extends Error {
  override readonly name = "BrokenResponse";
  /** Loops of the AI SDK and of this package read this field. */
  readonly isRetryable: boolean;

  constructor(cause?: unknown) {
    const reason = cause instanceof Error ? `: ${cause.message}` : "";
    super(`The stream ended before the response was complete${reason === "" ? "." : reason}`, { cause });
    const declared = typeof cause === "object" && cause !== null && "isRetryable" in cause;
    this.isRetryable = declared ? cause.isRetryable !== false : true;
  }
}
