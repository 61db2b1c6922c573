/** Live data: a snapshot, then patches, and a snapshot again after each reconnect. */
import { useEffect, useState } from "preact/hooks";
import { apiUrl, asProblem, get, type Problem, UNREACHABLE } from "./api.ts";

export interface Live<T> {
  readonly data: T | undefined;
  readonly state: "connecting" | "live" | "reconnecting" | "ended";
  readonly problem: Problem | undefined;
}

const RETRY_MS = 2_000;
/** A short break is not worth a message. */
const SILENCE_MS = 3_000;
/** A browser opens few connections to one server. A tab in the background must not keep one of them for long. */
const HIDDEN_MS = 5_000;

/** @param query of the event stream. @param merge applies a patch. */
export function useLive<T>(
  query: Readonly<Record<string, string>>,
  merge: (data: T, patch: Partial<T>) => T,
): Live<T> {
  const url = apiUrl("events", query);
  const [live, setLive] = useState<Live<T> & { readonly url: string }>(startOf(url));
  useEffect(() => {
    setLive(startOf(url));
    let source: EventSource | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let silence: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    const update = (change: (before: Live<T>) => Partial<Live<T>>): void => {
      if (!isOver) setLive((before) => ({ ...before, ...change(before) }));
    };
    const open = (): void => {
      if (document.hidden) {
        source = undefined;
        return;
      }
      source = new EventSource(url);
      source.addEventListener("snapshot", (event) => {
        const data = JSON.parse((event as MessageEvent<string>).data) as T;
        update(() => ({ data, state: "live", problem: undefined }));
      });
      source.addEventListener("patch", (event) => {
        const patch = JSON.parse((event as MessageEvent<string>).data) as Partial<T>;
        update(({ data }) => ({
          data: data === undefined ? data : merge(data, patch),
          state: "live",
          problem: undefined,
        }));
      });
      source.addEventListener("problem", (event) => {
        const { error } = JSON.parse((event as MessageEvent<string>).data) as {
          error: Omit<Problem, "status">;
        };
        update(() => ({ problem: { status: 0, ...error } }));
      });
      source.addEventListener("open", () => {
        clearTimeout(silence);
        silence = undefined;
      });
      source.addEventListener("error", () => {
        update(() => ({ state: "reconnecting" }));
        silence ??= setTimeout(() => {
          silence = undefined;
          if (source?.readyState === EventSource.CONNECTING) update(() => ({ problem: UNREACHABLE }));
        }, SILENCE_MS);
        // The browser reconnects by itself, unless the server refused. An event stream does not say why, so ask.
        if (source?.readyState === EventSource.CLOSED) void explain();
      });
    };
    const explain = async (): Promise<void> => {
      source?.close();
      const { run } = query;
      try {
        await (run === undefined ? get("runs", { limit: "1" }) : get(`runs/${encodeURIComponent(run)}`));
        update(() => ({ problem: undefined }));
      } catch (error) {
        const problem = asProblem(error);
        const isFinal = problem.status === 404 || problem.status === 400;
        update(() => ({ problem, state: isFinal ? "ended" : "reconnecting" }));
        if (isFinal) return;
      }
      if (!isOver) timer = setTimeout(open, RETRY_MS);
    };
    let hidden: ReturnType<typeof setTimeout> | undefined;
    const onVisibility = (): void => {
      clearTimeout(hidden);
      if (!document.hidden && source === undefined) open();
      if (!document.hidden) return;
      hidden = setTimeout(() => {
        source?.close();
        source = undefined;
        clearTimeout(timer);
      }, HIDDEN_MS);
    };
    document.addEventListener("visibilitychange", onVisibility);
    open();
    return () => {
      isOver = true;
      document.removeEventListener("visibilitychange", onVisibility);
      source?.close();
      clearTimeout(timer);
      clearTimeout(hidden);
      clearTimeout(silence);
    };
  }, [url]);
  // The first render with a new address still has the data of the old one.
  return live.url === url ? live : startOf(url);
}

function startOf(url: string): Live<never> & { readonly url: string } {
  return { url, data: undefined, state: "connecting", problem: undefined };
}
