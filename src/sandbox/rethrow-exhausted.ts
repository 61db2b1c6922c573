/**
 * Tells "it does not exist" from "this process has no descriptor or memory left". A command can make so many protected
 * paths that holding them takes all descriptors. What could not be looked at then must never count as absent.
 */
export function rethrowExhausted(error: unknown): void {
  if (error instanceof Error && "code" in error && EXHAUSTED.has(error.code)) throw error;
}

const EXHAUSTED: ReadonlySet<unknown> = new Set(["EMFILE", "ENFILE", "ENOMEM"]);
