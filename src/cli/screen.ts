/** Output of commands: text for people or JSON for programs, with colours only on a terminal. */
import { randomBytes } from "node:crypto";
import { styleText } from "node:util";
import {
  toTerminalBlock,
  toTerminalJson,
  toTerminalLine,
  toTerminalText,
} from "../terminal/terminal-text.ts";
import { CliError, toErrorReport } from "./cli-error.ts";
import type { ShownStatus } from "../operate/run-status.ts";

export interface CommonOptions {
  readonly store: string;
  readonly json?: boolean | undefined;
  readonly color?: boolean | undefined;
  readonly debug?: boolean | undefined;
}

export type Colour = "green" | "red" | "yellow" | "cyan" | "gray" | "bold";

export const STATUS_COLOURS: Readonly<Record<ShownStatus, Colour>> = {
  queued: "gray",
  running: "cyan",
  finished: "green",
  failed: "red",
  cancelled: "yellow",
  "waiting-approval": "yellow",
  "waiting-timer": "yellow",
  "waiting-signal": "yellow",
  interrupted: "red",
};

export interface Screen {
  readonly isJson: boolean;
  /** Whether the output is a terminal that can be redrawn. */
  readonly isLive: boolean;
  paint(colour: Colour, text: string): string;
  /** One line without control sequences, except the colors of `paint`: prompts, names and errors may come from a model. */
  escape(text: string): string;
  /** One line; line breaks in the text are escaped. */
  print(text: string): void;
  /** Several lines; each line after the first is marked, so that it cannot pass for our own output. */
  printBlock(text: string): void;
  /** Plain lines, such as an output or a table. */
  printText(text: string): void;
  /** JSON; written only with `--json`. */
  printJson(value: unknown): void;
  /** One line on standard error. */
  warn(text: string): void;
  printError(error: unknown): void;
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
    escape: (text) => colours.show(text, toTerminalLine),
    print: (text) => write(text, toTerminalLine),
    printBlock: (text) => write(text, toTerminalBlock),
    printText: (text) => write(text, toTerminalText),
    printJson: (value) => {
      if (isJson) process.stdout.write(`${toTerminalJson(value)}\n`);
    },
    warn,
    printError: (error) => {
      const report = toErrorReport(error);
      if (isJson) process.stdout.write(`${toTerminalJson({ error: report })}\n`);
      const { message, hint, docs } = report;
      process.stderr.write(`toolwright: ${toTerminalBlock(message)}\n`);
      // Only our own errors may have hints of several lines.
      const lines = error instanceof CliError ? hint.split("\n") : [hint];
      if (hint !== "") for (const line of lines) process.stderr.write(`  ${toTerminalLine(line)}\n`);
      if (docs !== undefined) process.stderr.write(`  ${docs}\n`);
      if (options.debug === true && error instanceof Error && error.stack !== undefined)
        process.stderr.write(`  | ${toTerminalBlock(error.stack)}\n`);
    },
  };
}

/** Marks our escape sequences with a random word, so that a sequence in a text cannot imitate one. */
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
        .map((part, index) => (index % 2 === 1 ? `\u001B${part}` : show(part)))
        .join(""),
  };
}
