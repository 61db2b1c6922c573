/** Looks for the death of the process that drives a turn, as long as a client of this process reads the turn. */

/** A dead process on the same host is known immediately, one elsewhere when its lease has expired. */
const LOOK_MS = 1_000;

/**
 * @param look its errors are dropped, and the next look tries again
 * @returns stops looking
 */
export function watchOwner(look: () => Promise<void>): () => void {
  let isLooking = false;
  const lookOnce = async (): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    try {
      await look();
    } catch {
      // The store did not answer, or another process was faster. The errors of a turn are in its stream.
    } finally {
      isLooking = false;
    }
  };
  const timer = setInterval(() => void lookOnce(), LOOK_MS).unref();
  return () => clearInterval(timer);
}
