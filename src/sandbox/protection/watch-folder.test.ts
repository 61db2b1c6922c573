import { EventEmitter } from "node:events";
import type { watch, FSWatcher } from "node:fs";
import { afterEach, expect, test, vi } from "vitest";
import { watchFolder } from "./watch-folder.ts";

afterEach(() => void vi.useRealTimers());

/** A folder in which events arrive as long as the folder is watched, as they do while a command floods it. */
function flooded(): {
  readonly watchWith: typeof watch;
  readonly flood: () => number;
  readonly opened: () => number;
} {
  let tell: ((kind: "rename" | "change", name: string | null) => void) | undefined;
  let opened = 0;
  const watchWith = ((_folder: string, _options: object, listener: typeof tell): FSWatcher => {
    opened += 1;
    tell = listener;
    return Object.assign(new EventEmitter(), {
      close: () => (tell = undefined),
    }) as unknown as FSWatcher;
  }) as unknown as typeof watch;
  const flood = (): number => {
    let events = 0;
    while (events < 1_000_000) {
      if (tell === undefined) return events;
      tell("rename", events % 2 === 0 ? "b" : "a");
      events += 1;
    }
    return events;
  };
  return { watchWith, flood, opened: () => opened };
}

test("a command that floods a folder with changes does not hold back the process", () => {
  vi.useFakeTimers();
  const { watchWith, flood, opened } = flooded();
  const seen: (string | undefined)[] = [];
  const watcher = watchFolder("/f", new Map([["a", "/f/a"]]), (path) => seen.push(path), watchWith);
  expect(flood()).toBe(1_024);
  expect(seen.slice(0, 2)).toEqual([undefined, "/f/a"]);
  seen.length = 0;
  // Whatever happened in the pause is looked for after it, and the folder is watched again.
  vi.advanceTimersByTime(10);
  expect([seen, opened()]).toEqual([[undefined], 2]);
  expect(flood()).toBe(1_024);
  watcher.close();
  vi.advanceTimersByTime(1_000);
  expect(opened()).toBe(2);
});

test("events of several turns do not add up to a pause", async () => {
  let tell = (_kind: "change", _name: string): void => undefined;
  const emitter = Object.assign(new EventEmitter(), { close: vi.fn() });
  const watchWith = ((_folder: string, _options: object, listener: typeof tell) => {
    tell = listener;
    return emitter;
  }) as unknown as typeof watch;
  const watcher = watchFolder("/f", new Map(), () => undefined, watchWith);
  for (let turn = 0; turn < 3; turn += 1) {
    for (let event = 0; event < 1_000; event += 1) tell("change", "x");
    await new Promise((done) => setImmediate(done));
  }
  expect(emitter.close).not.toHaveBeenCalled();
  watcher.close();
  expect(emitter.close).toHaveBeenCalledOnce();
});
