/** Watches the protected paths of a root while a command runs: by events of their folders, and by periodic scans. */
import { basename, dirname } from "node:path";
import type { ProtectionPlan } from "./protection-plan.ts";
import { watchFolder, type Watcher } from "./watch-folder.ts";

/** Most commands end sooner and need no watchers. The check at the end sees what happened before. */
const GRACE_MS = 25;
const TOGETHER_MS = 2;
const TICK_MS = 250;
const MAX_WATCHERS = 64;

/**
 * Calls `look` shortly after a change next to a protected path, and periodically for the whole root. Passes the `watched`
 * paths that were renamed, created or removed.
 */
export function watchProtected(
  plan: ProtectionPlan,
  watched: ReadonlySet<string>,
  look: (isWide: boolean, renamed: readonly string[]) => void,
): Watcher {
  const watchers: Watcher[] = [];
  const renamed = new Set<string>();
  let isOver = false;
  let isAsked = false;
  const onEvent = (path: string | undefined): void => {
    if (path !== undefined) renamed.add(path);
    if (isAsked || isOver) return;
    isAsked = true;
    // A build causes thousands of events: check once for all that arrive together.
    setTimeout(() => {
      isAsked = false;
      if (!isOver) look(false, [...renamed]);
      renamed.clear();
    }, TOGETHER_MS).unref();
  };
  const tick = (): void => {
    if (isOver) return;
    const began = performance.now();
    look(true, []);
    // A large root takes longer to scan: spend at most a twentieth of the time on it.
    if (!isOver) timer = setTimeout(tick, Math.max(TICK_MS, (performance.now() - began) * 20));
  };
  let timer = setTimeout(() => {
    const folders = new Set([plan.root.path, ...plan.protections.map(({ path }) => dirname(path))]);
    for (const folder of [...folders].slice(0, MAX_WATCHERS)) {
      const inFolder = [...watched].filter((path) => dirname(path) === folder);
      const paths = new Map(inFolder.map((path) => [basename(path), path]));
      watchers.push(watchFolder(folder, paths, onEvent));
    }
    tick();
  }, GRACE_MS);
  return {
    close() {
      isOver = true;
      clearTimeout(timer);
      for (const watcher of watchers.splice(0)) watcher.close();
    },
  };
}
