/** Notifies listeners that a run was taken over from a dead process. */
import type { RunKind } from "./events.ts";
import type { Host } from "./host.ts";

export interface Takeover {
  readonly runId: string;
  readonly kind: RunKind;
  readonly name: string;
  /** How often in a row without progress. `undefined` if it was not taken over. */
  readonly takeovers: number | undefined;
}

export function emitTakeover(host: Host, { runId, kind, name, takeovers: inARow }: Takeover): void {
  if (inARow === undefined || !host.isWatched()) return;
  host.emit({ type: "run-taken-over", at: host.clock.now(), runId, kind, name, inARow });
}
