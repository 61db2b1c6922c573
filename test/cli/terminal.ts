/** Runs the real command on a real terminal, which script(1) creates. */
import { spawn } from "node:child_process";
import { onTestFinished } from "vitest";
import { MAIN } from "./command.ts";

export interface AtTerminal {
  readonly code: number | null;
  /** All output, in order. */
  readonly screen: string;
}

interface TerminalOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly columns?: number;
  readonly rows?: number;
}

/** Types each answer when its question is visible. */
export async function atTerminal(
  folder: string,
  line: string,
  answers: readonly (readonly [question: string | RegExp, answer: string])[] = [],
  { env = {}, columns = 80, rows = 24 }: TerminalOptions = {},
): Promise<AtTerminal> {
  const command = `stty cols ${columns} rows ${rows}; exec ${process.execPath} ${MAIN} ${line}`;
  const child = spawn("script", ["-qfec", command, "/dev/null"], {
    cwd: folder,
    env: { ...process.env, TERM: "xterm", NO_COLOR: "1", ...env },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let screen = "";
  let seen = 0;
  const open = [...answers];
  child.stdout.on("data", (data: Buffer) => {
    screen += data.toString();
    const [next] = open;
    if (next === undefined) return;
    const [question, answer] = next;
    const rest = screen.slice(seen);
    const at = typeof question === "string" ? rest.indexOf(question) : rest.search(question);
    if (at < 0) return;
    seen = screen.length;
    open.shift();
    child.stdin.write(answer);
  });
  const code = await new Promise<number | null>((resolve) => {
    child.once("close", resolve);
  });
  return { code, screen };
}

/** The lines that the user sees at the end, after all redraws. */
export function linesSeen(screen: string): string[] {
  const lines: string[] = [""];
  let row = 0;
  let column = 0;
  const put = (text: string): void => {
    const line = (lines[row] ?? "").padEnd(column);
    lines[row] = line.slice(0, column) + text + line.slice(column + text.length);
    column += text.length;
  };
  for (const [token = "", , up, erases] of screen.matchAll(
    // oxlint-disable-next-line eslint/no-control-regex
    /(\u001B\[(?:(\d+)A|(0?J)|[\d;?]*[a-zA-Z]))|\r|\n|[^\u001B\r\n]+/g,
  )) {
    if (up !== undefined) row = Math.max(0, row - Number(up));
    else if (erases !== undefined) {
      lines.length = row + 1;
      lines[row] = (lines[row] ?? "").slice(0, column);
    } else if (token === "\r") column = 0;
    else if (token === "\n") {
      row += 1;
      lines[row] ??= "";
    } else if (!token.startsWith("\u001B")) put(token);
  }
  return lines.map((line) => line.trimEnd());
}
