/** What is written where: words for people, or JSON for programs, in colours only where they are wanted. */
import { styleText } from "node:util";
import { toTerminalText } from "../util/terminal-text.ts";
import { toComplaint } from "./cli-error.ts";

export interface CommonOptions {
  readonly store: string;
  readonly json?: boolean | undefined;
  readonly color?: boolean | undefined;
  readonly debug?: boolean | undefined;
}

export type Colour = "green" | "red" | "yellow" | "cyan" | "gray" | "bold";

export interface Screen {
  readonly isJson: boolean;
  /** Whether what is drawn can be drawn over. */
  readonly isLive: boolean;
  paint(colour: Colour, text: string): string;
  /** Prompts, names and errors may be a model's: none of them obtains more of a terminal than `paint` does. */
  harmless(text: string): string;
  say(text: string): void;
  /** For programs only. */
  tell(value: unknown): void;
  complain(error: unknown): void;
}

/** What `styleText` makes of a `Colour`. */
// oxlint-disable-next-line eslint/no-control-regex
const OWN_COLOURS = /(\u001B\[(?:1|22|3[1236]|39|90)m)/;

export function createScreen(options: Pick<CommonOptions, "json" | "color" | "debug">): Screen {
  const isJson = options.json === true;
  const isColoured =
    options.color !== false && (process.env["NO_COLOR"] ?? "") === "" && process.stdout.isTTY;
  const paint = (colour: Colour, text: string): string =>
    isColoured ? styleText(colour, text, { validateStream: false }) : text;
  const harmless = (text: string): string =>
    isColoured
      ? text
          .split(OWN_COLOURS)
          .map((part, place) => (place % 2 === 1 ? part : toTerminalText(part)))
          .join("")
      : toTerminalText(text);
  return {
    isJson,
    isLive: !isJson && process.stdout.isTTY && process.env["TERM"] !== "dumb",
    paint,
    harmless,
    say: (text) => {
      if (!isJson) process.stdout.write(`${harmless(text)}\n`);
    },
    tell: (value) => {
      if (isJson) process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
    },
    complain: (error) => {
      const complaint = toComplaint(error);
      if (isJson) process.stdout.write(`${JSON.stringify({ error: complaint }, null, 2)}\n`);
      const { message, hint } = complaint;
      process.stderr.write(toTerminalText(`toolwright: ${message}${hint === "" ? "" : `\n  ${hint}`}\n`));
      if (options.debug === true && error instanceof Error) process.stderr.write(`${error.stack ?? ""}\n`);
    },
  };
}

export function toDuration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  return minutes < 60
    ? `${minutes} min ${Math.floor((ms % 60_000) / 1_000)} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function toAge(ms: number, now: number = Date.now()): string {
  // A time that lies ahead is one of a clock that was set back since.
  const age = Math.max(0, now - ms);
  const days = Math.floor(age / 86_400_000);
  return days >= 1 ? `${days} d ago` : `${toDuration(age)} ago`;
}

/** One line of a value, not longer than a line. */
export function toShortText(value: unknown, longest = 100): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length <= longest ? line : `${line.slice(0, longest - 1)}…`;
}
