/**
 * Notifies a worker that a run may be ready. It only wakes: the marker in the store is the source of truth, so a wake-up
 * that is lost, late or doubled changes only the latency.
 */
export interface WakeUps {
  /** @param wake may be called at any time, even if no run is ready */
  start(wake: () => void): Promise<void>;
  /** Called by the worker's sweep, at least once per lease, and after runs were left for others. */
  sweep(): Promise<void>;
  stop(): Promise<void>;
  /** For `status()`. */
  readonly engine: string;
}
