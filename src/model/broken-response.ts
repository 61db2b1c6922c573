/** A streamed response that ended before it was complete. It is discarded, and the request can be repeated. */
export class BrokenResponse extends Error {
  override readonly name = "BrokenResponse";
  /** The AI SDK's loops and ours read this field. */
  readonly isRetryable: boolean;

  constructor(cause?: unknown) {
    const reason = cause instanceof Error ? `: ${cause.message}` : "";
    super(`The stream ended before the response was complete${reason === "" ? "." : reason}`, { cause });
    const declared = typeof cause === "object" && cause !== null && "isRetryable" in cause;
    this.isRetryable = declared ? cause.isRetryable !== false : true;
  }
}
