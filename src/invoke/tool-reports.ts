/** A tool's reports while it runs, by `ctx.log` and `ctx.progress`. Listeners receive them as events. */
import type { ToolLog } from "../definition/context.ts";
import { describe } from "../definition/option-checks.ts";
import { toShownJson } from "../util/shown-value.ts";
import { type Call, emit } from "./call.ts";
import { createScrubber } from "./scrub.ts";

/** Removes redacted arguments from messages of the author that listeners receive. */
function scrubbed(call: Call, message: string, data: unknown): { message: string; data: unknown } {
  if (call.spec.redactInput.length === 0) return { message, data };
  const clean = createScrubber(call);
  return {
    message: clean(message),
    data: data === undefined ? undefined : (JSON.parse(clean(toShownJson(data))) as unknown),
  };
}

/** An invalid report must not fail the call, whose effect may have happened. It causes one warning per tool. */
export function reportProgress(call: Call, report: readonly unknown[]): void {
  const progress = readProgress(report);
  if (typeof progress === "string") {
    call.host.warnOnce(`progress ${call.spec.name}`, `tool "${call.spec.name}": ${progress}`);
    return;
  }
  emit(call, { type: "call-progress", ...scrubbed(call, progress.message, progress.data) });
}

/** @returns the problem as a text, if the report is invalid */
function readProgress([first, second, third]: readonly unknown[]):
  | { message: string; data: unknown }
  | string {
  if (
    typeof first === "string" &&
    (second === undefined || (typeof second === "object" && second !== null))
  ) {
    return { message: first, data: second };
  }
  const isTotal = second === undefined || second === null || Number.isFinite(second);
  const isMessage = third === undefined || third === null || typeof third === "string";
  if (!Number.isFinite(first) || !isTotal || !isMessage) {
    return `ctx.progress takes (message, data?) or (progress, total?, message?), not (${[first, second, third]
      .flatMap((value) => (value === undefined ? [] : [describe(value)]))
      .join(", ")}). The report was dropped.`;
  }
  const total = typeof second === "number" ? { total: second } : {};
  return { message: third ?? "", data: { progress: first, ...total } };
}

export class CallLog implements ToolLog {
  readonly #call: Call;

  constructor(call: Call) {
    this.#call = call;
  }

  debug(message: string, data?: Readonly<Record<string, unknown>>): void {
    this.#write("debug", message, data);
  }

  info(message: string, data?: Readonly<Record<string, unknown>>): void {
    this.#write("info", message, data);
  }

  warn(message: string, data?: Readonly<Record<string, unknown>>): void {
    this.#write("warn", message, data);
  }

  error(message: string, data?: Readonly<Record<string, unknown>>): void {
    this.#write("error", message, data);
  }

  #write(level: "debug" | "info" | "warn" | "error", message: string, data: unknown): void {
    emit(this.#call, { type: "call-logged", level, ...scrubbed(this.#call, message, data) });
  }
}

/** The progress of a tool as text for one line on a terminal. */
export function progressText({
  message,
  data,
}: {
  readonly message: string;
  readonly data: unknown;
}): string {
  const { progress, total } = (typeof data === "object" && data !== null ? data : {}) as Record<
    string,
    unknown
  >;
  if (typeof progress !== "number" || message !== "") return message;
  return typeof total === "number" ? `${progress}/${total}` : String(progress);
}
