/** Calls code of an SDK. Whatever it throws, the run is not affected: it is reported once. */
import type { Context } from "@opentelemetry/api";
import { context } from "@opentelemetry/api";

export class Watch {
  readonly #warnOnce: (topic: string, message: string) => void;

  constructor(warnOnce: (topic: string, message: string) => void) {
    this.#warnOnce = warnOnce;
  }

  /** `otherwise` if the code throws. */
  try<T>(code: () => T, otherwise: T): T {
    try {
      return code();
    } catch (error) {
      this.#report(error);
      return otherwise;
    }
  }

  /** Runs `work` exactly once, in the context if the context manager works. */
  within<T>(active: Context, work: () => T): T {
    let ended: { readonly value: T } | { readonly error: unknown } | undefined;
    this.try(
      () =>
        context.with(active, () => {
          ended = settle(work);
        }),
      undefined,
    );
    ended ??= settle(work);
    if ("error" in ended) throw ended.error;
    return ended.value;
  }

  #report(error: unknown): void {
    // The error may be anything, and reporting it must not throw.
    const name = error instanceof Error ? error.name : typeof error;
    this.#warnOnce(
      "telemetry",
      `telemetry failed (${name}); runs are not affected, but spans or metrics are missing.`,
    );
  }
}

function settle<T>(work: () => T): { readonly value: T } | { readonly error: unknown } {
  try {
    return { value: work() };
  } catch (error) {
    return { error };
  }
}
