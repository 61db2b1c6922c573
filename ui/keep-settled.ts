/** Requests that are settled while they are on the page stay there, with who decided and what, instead of vanishing. */
import { useEffect, useRef, useState } from "preact/hooks";
import { get } from "./api.ts";
import type { Approval } from "./types.ts";

/** @param view what the requests belong to: another one begins with its own */
export function useKeptApprovals(current: readonly Approval[], view: string): readonly Approval[] {
  const seen = useRef(new Set<string>());
  const [settled, setSettled] = useState<ReadonlyMap<string, Approval>>(new Map());
  useEffect(() => {
    seen.current = new Set();
    setSettled(new Map());
  }, [view]);
  useEffect(() => {
    const abort = new AbortController();
    const present = new Set(current.map(({ id }) => id));
    for (const id of present) seen.current.add(id);
    for (const id of seen.current) {
      if (present.has(id) || settled.has(id)) continue;
      get<Approval>(`approvals/${encodeURIComponent(id)}`, {}, abort.signal).then(
        (approval) => setSettled((before) => new Map(before).set(id, approval)),
        // Retention may have deleted it, or the next change reads it again.
        () => undefined,
      );
    }
    return () => abort.abort();
  }, [current]);
  const present = new Set(current.map(({ id }) => id));
  return [...current, ...[...settled.values()].filter(({ id }) => !present.has(id))].toSorted(
    (one, other) => one.requestedAtMs - other.requestedAtMs,
  );
}
