/**
 * Watches a folder for changes next to protected paths. It must never keep the process from anything else: Node delivers
 * file events for as long as new ones arrive, so a command that makes them quickly enough would hold back every timer, the
 * time limit of the command included. Watching therefore pauses after many events in one turn.
 */
import { watch } from "node:fs";

export interface Watcher {
  close(): void;
}

/** A few milliseconds. */
const MOST_EVENTS = 1_024;
const PAUSE_MS = 10;

/**
 * Calls `onEvent` after each change, with one of the `paths` if that got or lost its name, and after each pause. A command
 * may cause many thousands of events, so each costs no more than to look up its name.
 */
export function watchFolder(
  folder: string,
  paths: ReadonlyMap<string, string>,
  onEvent: (path: string | undefined) => void,
  watchWith: typeof watch = watch,
): Watcher {
  let watcher: Watcher | undefined;
  let events = 0;
  let isOver = false;
  const close = (): void => {
    watcher?.close();
    watcher = undefined;
  };
  const begin = (): void => {
    if (isOver) return;
    events = 0;
    try {
      const opened = watchWith(folder, { persistent: false }, (kind, name) => {
        if (opened !== watcher) return; // It is closed, and what the kernel has queued arrives late.
        if (events === 0) setImmediate(() => (events = 0)).unref();
        events += 1;
        onEvent(kind === "rename" && name !== null ? paths.get(name) : undefined);
        if (events < MOST_EVENTS) return;
        close();
        setTimeout(resume, PAUSE_MS).unref();
      });
      opened.on("error", () => opened.close());
      watcher = opened;
    } catch {
      // No watches are left: the periodic check has to do.
    }
  };
  const resume = (): void => {
    begin();
    if (!isOver) onEvent(undefined);
  };
  begin();
  return {
    close() {
      isOver = true;
      close();
    },
  };
}
