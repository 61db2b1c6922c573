/**
 * Concurrent requests with the same key share one call. It is cancelled when the last client disconnects, not when
 * the first one does.
 */
import { ToolwrightError } from "../../../errors.ts";
import type { Outcome } from "../../../invoke/outcome.ts";
import { untilAborted } from "../../../util/abort.ts";

interface SharedCall {
  readonly outcome: Promise<Outcome>;
  readonly cancel: AbortController;
  clients: number;
}

export class SharedRequests {
  readonly #calls = new Map<string, SharedCall>();

  /**
   * @param name equal for requests with an equal key, tool and arguments
   * @param signal fires when this client disconnects
   */
  async join(
    name: string,
    signal: AbortSignal,
    start: (signal: AbortSignal) => Promise<Outcome>,
  ): Promise<Outcome> {
    const call = this.#calls.get(name) ?? this.#start(name, start);
    call.clients += 1;
    await untilAborted(call.outcome, signal);
    call.clients -= 1;
    if (!signal.aborted) return call.outcome;
    if (call.clients > 0) {
      throw new ToolwrightError(
        "TOOL_ABORTED",
        "The client disconnected. The call continues for the other clients.",
        {
          cause: signal.reason,
        },
      );
    }
    // A new request must not join a call that is being cancelled.
    if (this.#calls.get(name) === call) this.#calls.delete(name);
    call.cancel.abort(signal.reason);
    return call.outcome;
  }

  #start(name: string, start: (signal: AbortSignal) => Promise<Outcome>): SharedCall {
    const cancel = new AbortController();
    const call: SharedCall = { outcome: start(cancel.signal), cancel, clients: 0 };
    this.#calls.set(name, call);
    const end = (): void => {
      if (this.#calls.get(name) === call) this.#calls.delete(name);
    };
    call.outcome.then(end, end);
    return call;
  }
}
