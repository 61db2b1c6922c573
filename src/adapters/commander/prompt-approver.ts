/** Asks the user at the terminal to decide pending approvals. Decisions are stored like any other. */
import { createInterface, type Interface } from "node:readline/promises";
import { ToolwrightError } from "../../errors.ts";
import type { Approval } from "../../invoke/approval.ts";
import { RESOLUTION_LABELS } from "../../invoke/approvals/decision.ts";
import { messageOf } from "../../invoke/error-record.ts";
import type { ApprovalDecision } from "../../runtime/approvals.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { toTerminalBlock, toTerminalJson, toTerminalName } from "../../terminal/terminal-text.ts";
import { userName } from "../../terminal/user-name.ts";

/** The question is written to stderr, so stdout may be a pipe. */
export function isTerminal(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/** @returns whether all requests were decided */
export async function promptApprover(
  runtime: Runtime,
  requests: readonly Approval[],
  signal: AbortSignal,
): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  // In raw mode Ctrl+C arrives as a character instead of a signal.
  terminal.on("SIGINT", () => process.kill(process.pid, "SIGINT"));
  const ask = asker(terminal, signal);
  try {
    for (const request of requests) {
      if (!(await settle(runtime, request, ask))) return false;
    }
    return requests.length > 0;
  } finally {
    terminal.close();
  }
}

/** Returns the line that was typed, or `undefined` at the end of the input. */
type Ask = (question: string, prefilled?: string) => Promise<string | undefined>;

function asker(terminal: Interface, signal: AbortSignal): Ask {
  const closed = new Promise<undefined>((resolve) => terminal.once("close", () => resolve(undefined)));
  return async (question, prefilled = "") => {
    if (signal.aborted) return undefined;
    const typed = terminal.question(question, { signal }).catch(() => undefined);
    if (prefilled !== "") terminal.write(prefilled);
    return Promise.race([typed, closed]);
  };
}

async function settle(runtime: Runtime, request: Approval, ask: Ask): Promise<boolean> {
  const { id, prompt, toolName, args, defaults } = request;
  print(prompt);
  // A task has no arguments; its prompt describes it.
  if (request.kind !== "task") print(`  ${toTerminalName(toolName)} ${toTerminalJson(args, 0)}`);
  if (defaults !== undefined) print(`  suggested: ${toTerminalJson(defaults, 0)}`);
  for (;;) {
    const decision = request.kind === "replay" ? await askResolution(ask) : await askApproval(request, ask);
    if (decision === undefined) return false;
    if (decision === "again") continue;
    try {
      await runtime.resolveToolApproval(id, {
        ...decision,
        decidedBy: userName(),
        argsHash: request.argsHash,
      });
      return true;
    } catch (error) {
      if (!ToolwrightError.is(error)) throw error;
      print(error.message);
      // Decided elsewhere or expired: the call reports the outcome.
      if (error.code === "TOOL_APPROVAL_SETTLED" || error.code === "TOOL_APPROVAL_EXPIRED") return true;
      if (
        error.code !== "TOOL_INPUT_INVALID" &&
        error.code !== "TOOL_INPUT_REDACTED" &&
        error.code !== "TOOL_OUTPUT_INVALID"
      )
        throw error;
    }
  }
}

type Decision =
  | Pick<ApprovalDecision, "approved" | "approvedArgs" | "resolution" | "output">
  | "again"
  | undefined;

async function askApproval({ kind, args, defaults }: Approval, ask: Ask): Promise<Decision> {
  const isTask = kind === "task";
  const word = await ask(
    isTask ? "Approve it? [y]es, [N]o: " : "Run it? [y]es, [N]o, [e]dit the arguments: ",
  );
  switch (word?.trim().toLowerCase()) {
    case undefined:
      return undefined;
    case "y":
    case "yes":
      return { approved: true };
    case "e":
    case "edit": {
      if (isTask) return "again";
      const edited = await askJson(ask, "arguments> ", {
        ...(args as object),
        ...(defaults as object | undefined),
      });
      return edited === undefined || edited === "again"
        ? edited
        : { approved: true, approvedArgs: edited.value };
    }
    case "":
    case "n":
    case "no":
      return { approved: false };
    default:
      return "again";
  }
}

/** For an interrupted call whose outcome is unknown. Enter decides nothing. */
async function askResolution(ask: Ask): Promise<Decision> {
  for (const [key, resolution] of KEYS) print(`  [${key}] ${RESOLUTION_LABELS[resolution]}`);
  const word = await ask("[r]un it again, it [h]appened, [g]ive up, or Enter to leave it open: ");
  const typed = word?.trim().toLowerCase();
  if (typed === undefined || typed === "") return undefined;
  const resolution = KEYS.find(([key, name]) => typed === key || typed === name)?.[1];
  if (resolution === undefined) return "again";
  return resolution === "happened" ? askOutput(ask) : { resolution };
}

const KEYS = [
  ["h", "happened"],
  ["r", "run-again"],
  ["g", "give-up"],
] as const;

async function askOutput(ask: Ask): Promise<Decision> {
  print("Enter the output of the call as JSON, or press Enter for none.");
  const text = await ask("output> ");
  if (text === undefined) return undefined;
  if (text.trim() === "") return { resolution: "happened" };
  const output = parseJson(text);
  return output === "again" ? output : { resolution: "happened", output: output.value };
}

async function askJson(
  ask: Ask,
  question: string,
  start: unknown,
): Promise<{ value: unknown } | "again" | undefined> {
  const text = await ask(question, toTerminalJson(start, 0));
  return text === undefined ? undefined : parseJson(text);
}

function parseJson(text: string): { value: unknown } | "again" {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (error) {
    print(`Invalid JSON: ${messageOf(error)}`);
    return "again";
  }
}

function print(text: string): void {
  process.stderr.write(`${toTerminalBlock(text)}\n`);
}
