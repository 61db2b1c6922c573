/**
 * Several requests with one key are one call, which serves all clients that wait for it. It is cancelled when the last of
 * them is gone, not when the first one hangs up.
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
   * @param signal fires when this client is gone
   */
  async join(
    name: string,
    signal: AbortSignal,
    begin: (signal: AbortSignal) => Promise<Outcome>,
  ): Promise<Outcome> {
    const call = this.#calls.get(name) ?? this.#begin(name, begin);
    call.clients += 1;
    await untilAborted(call.outcome, signal);
    call.clients -= 1;
    if (!signal.aborted) return call.outcome;
    if (call.clients > 0) {
      throw new ToolwrightError(
        "TOOL_ABORTED",
        "The client is gone. The call continues for the other clients.",
        {
          cause: signal.reason,
        },
      );
    }
    // A request that comes from now on is not served by a call that is being cancelled.
    if (this.#calls.get(name) === call) this.#calls.delete(name);
    call.cancel.abort(signal.reason);
    return call.outcome;
  }

  #begin(name: string, begin: (signal: AbortSignal) => Promise<Outcome>): SharedCall {
    const cancel = new AbortController();
    const call: SharedCall = { outcome: begin(cancel.signal), cancel, clients: 0 };
    this.#calls.set(name, call);
    const end = (): void => {
      if (this.#calls.get(name) === call) this.#calls.delete(name);
    };
    call.outcome.then(end, end);
    return call;
  }
}
