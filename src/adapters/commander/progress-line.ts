/** A status line for a long call. It is redrawn in place and removed when the call ends. */
import type { EventListener } from "../../invoke/events.ts";
import { progressText } from "../../invoke/tool-reports.ts";
import { LiveArea } from "../../terminal/live-area.ts";
import { toTerminalLine, toTerminalName } from "../../terminal/terminal-text.ts";

/** Shorter calls show no status line. */
const DELAY_MS = 500;
const REDRAW_MS = 100;

export interface ProgressLine extends Disposable {
  readonly onEvent: EventListener;
}

export function showProgressLine(toolName: string): ProgressLine {
  const start = performance.now();
  let message = "";
  let area: LiveArea | undefined;
  const draw = (): void => {
    const ms = performance.now() - start;
    if (ms < DELAY_MS && message === "") return;
    area ??= new LiveArea(process.stderr);
    const suffix = message === "" ? "" : `: ${toTerminalLine(message.replaceAll(/\s+/g, " "))}`;
    area.draw([`${toTerminalName(toolName)}${suffix} (${(ms / 1_000).toFixed(1)} s)`]);
  };
  const timer = setInterval(draw, REDRAW_MS);
  timer.unref();
  return {
    onEvent: (event) => {
      if (event.type === "call-progress") message = progressText(event);
      if (event.type === "call-retried") message = `retrying after ${event.errorCode}`;
      draw();
    },
    [Symbol.dispose]: () => {
      clearInterval(timer);
      area?.draw([]);
      area?.[Symbol.dispose]();
    },
  };
}
