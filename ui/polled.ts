/** Data without an event stream of its own: it is read again and again. */
import { useEffect, useState } from "preact/hooks";
import { asProblem, get, type Problem } from "./api.ts";

const READ_EVERY_MS = 2_000;

export interface Polled<T> {
  readonly data: T | undefined;
  readonly problem: Problem | undefined;
}

export function usePolled<T>(path: string): Polled<T> {
  const [polled, setPolled] = useState<Polled<T>>({ data: undefined, problem: undefined });
  useEffect(() => {
    const abort = new AbortController();
    const read = async (): Promise<void> => {
      try {
        const data = await get<T>(path, {}, abort.signal);
        setPolled({ data, problem: undefined });
      } catch (error) {
        if (!abort.signal.aborted) setPolled(({ data }) => ({ data, problem: asProblem(error) }));
      }
    };
    void read();
    const timer = setInterval(() => void read(), READ_EVERY_MS);
    return () => {
      abort.abort();
      clearInterval(timer);
    };
  }, [path]);
  return polled;
}
