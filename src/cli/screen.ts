/** What is written where: words for people, or JSON for programs, in colours only where they are wanted. */
import { randomBytes } from "node:crypto";
import { styleText } from "node:util";
import {
  toTerminalBlock,
  toTerminalJson,
  toTerminalLine,
  toTerminalText,
} from "../terminal/terminal-text.ts";
import { CliError, toComplaint } from "./cli-error.ts";
import type { ShownStatus } from "../operate/run-status.ts";

export interface CommonOptions {
  readonly store: string;
  readonly json?: boolean | undefined;
  readonly color?: boolean | undefined;
  readonly debug?: boolean | undefined;
}

export type Colour = "green" | "red" | "yellow" | "cyan" | "gray" | "bold";

export const STATUS_COLOURS: Readonly<Record<ShownStatus, Colour>> = {
  running: "cyan",
  finished: "green",
  failed: "red",
  cancelled: "yellow",
  "waiting-approval": "yellow",
  interrupted: "red",
};

export interface Screen {
  readonly isJson: boolean;
  /** Whether what is drawn can be drawn over. */
  readonly isLive: boolean;
  paint(colour: Colour, text: string): string;
  /** Prompts, names and errors may be a model's: none of them obtains more of a terminal than `paint` does. One line. */
  harmless(text: string): string;
  /** One line, whatever the text holds. */
  say(text: string): void;
  /** The same, with further lines marked as not ours. */
  sayBlock(text: string): void;
  /** Lines that are nothing else, such as an output or a table. */
  sayText(text: string): void;
  /** For programs only. */
  tell(value: unknown): void;
  /** One line on standard error. */
  warn(text: string): void;
  complain(error: unknown): void;
}

export function createScreen(options: Pick<CommonOptions, "json" | "color" | "debug">): Screen {
  const isJson = options.json === true;
  const isColoured =
    options.color !== false && (process.env["NO_COLOR"] ?? "") === "" && process.stdout.isTTY;
  const colours = createColours();
  const paint = (colour: Colour, text: string): string => (isColoured ? colours.paint(colour, text) : text);
  const write = (text: string, show: (text: string) => string): void => {
    if (!isJson) process.stdout.write(`${colours.show(text, show)}\n`);
  };
  const warn = (text: string): void => void process.stderr.write(`toolwright: ${toTerminalLine(text)}\n`);
  return {
    isJson,
    isLive: !isJson && process.stdout.isTTY && process.env["TERM"] !== "dumb",
    paint,
    harmless: (text) => colours.show(text, toTerminalLine),
    say: (text) => write(text, toTerminalLine),
    sayBlock: (text) => write(text, toTerminalBlock),
    sayText: (text) => write(text, toTerminalText),
    tell: (value) => {
      if (isJson) process.stdout.write(`${toTerminalJson(value)}\n`);
    },
    warn,
    complain: (error) => {
      const complaint = toComplaint(error);
      if (isJson) process.stdout.write(`${toTerminalJson({ error: complaint })}\n`);
      const { message, hint } = complaint;
      process.stderr.write(`toolwright: ${toTerminalBlock(message)}\n`);
      // Only we write hints of several lines.
      const lines = error instanceof CliError ? hint.split("\n") : [hint];
      if (hint !== "") for (const line of lines) process.stderr.write(`  ${toTerminalLine(line)}\n`);
      if (options.debug === true && error instanceof Error && error.stack !== undefined)
        process.stderr.write(`  | ${toTerminalBlock(error.stack)}\n`);
    },
  };
}

/** Marks what is painted by a word that no text can guess: an escape sequence in a text must not pass for ours. */
function createColours() {
  const word = randomBytes(8).toString("hex");
  const mark = (sequence: string): string => `\u001B${word}${sequence.slice(1)}`;
  const marks = new RegExp(`\\u001B${word}(\\[\\d+m)`);
  return {
    paint: (colour: Colour, text: string): string => {
      const [before = "", after = ""] = styleText(colour, "\n", { validateStream: false }).split("\n");
      return `${mark(before)}${text}${mark(after)}`;
    },
    show: (text: string, show: (text: string) => string): string =>
      text
        .split(marks)
        .map((part, place) => (place % 2 === 1 ? `\u001B${part}` : show(part)))
        .join(""),
  };
}
