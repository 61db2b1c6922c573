/** Data without its own event stream: it is polled. */
import { useEffect, useState } from "preact/hooks";
import { asProblem, get, type Problem } from "./api.ts";

const READ_EVERY_MS = 2_000;

export interface Polled<T> {
  readonly data: T | undefined;
  readonly problem: Problem | undefined;
}

/** @param path may have a query */
export function usePolled<T>(path: string, everyMs: number = READ_EVERY_MS): Polled<T> {
  const [polled, setPolled] = useState<Polled<T>>({ data: undefined, problem: undefined });
  useEffect(() => {
    const abort = new AbortController();
    const read = async (): Promise<void> => {
      if (document.hidden) return;
      try {
        const data = await get<T>(path, {}, abort.signal);
        setPolled({ data, problem: undefined });
      } catch (error) {
        if (!abort.signal.aborted) setPolled(({ data }) => ({ data, problem: asProblem(error) }));
      }
    };
    void read();
    const timer = setInterval(() => void read(), everyMs);
    document.addEventListener("visibilitychange", read);
    return () => {
      abort.abort();
      document.removeEventListener("visibilitychange", read);
      clearInterval(timer);
    };
  }, [path]);
  return polled;
}
