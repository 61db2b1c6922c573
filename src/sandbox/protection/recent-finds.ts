/**
 * Paths that follow from a scan of the whole root, for the file tools, which ask with every change. Questions of one
 * turn of the event loop share a scan. A large root spends at most a twentieth of the time on scans: only the host
 * makes such paths, because links and settings that a command makes are turned off when it ends.
 */
import { scanRoot, type RootFinds } from "./scan-root.ts";

interface Recent {
  readonly finds: RootFinds;
  readonly lists: Map<string, readonly string[]>;
  readonly until: number;
  isThisTurn: boolean;
}

/** A scan that takes less is made for every change. */
const SHORT_MS = 50;
const MAX_ROOTS = 8;
const recent = new Map<string, Recent>();

/** `kind` names the list, which is made once per scan. */
export function recentPaths(
  root: string,
  kind: string,
  list: (finds: RootFinds) => readonly string[],
): readonly string[] {
  const { finds, lists } = recentScan(root);
  const paths = lists.get(kind) ?? list(finds);
  lists.set(kind, paths);
  return paths;
}

function recentScan(root: string): Recent {
  const began = performance.now();
  const last = recent.get(root);
  if (last !== undefined && (last.isThisTurn || began < last.until)) return last;
  const finds = scanRoot(root);
  const tookMs = performance.now() - began;
  const until = tookMs > SHORT_MS ? began + tookMs * 20 : 0;
  const scan: Recent = { finds, lists: new Map(), until, isThisTurn: true };
  queueMicrotask(() => (scan.isThisTurn = false));
  if (recent.size >= MAX_ROOTS) recent.clear();
  recent.set(root, scan);
  return scan;
}
