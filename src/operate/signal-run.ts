/** Sends a signal, and says who continues the run. */
import { readRunRow } from "../store/tables/runs.ts";
import type { Store } from "../store/store.ts";
import { type SentSignal, sendSignal, type SignalOptions } from "../runtime/signals.ts";
import { type CommandSyntax, toCommand } from "./commands.ts";
import { readOutlook } from "./worker-outlook.ts";

export interface SignalAnswer extends SentSignal {
  readonly message: string;
  /** The command that continues the run, if no worker does. */
  readonly command: string | null;
}

/** @throws TOOL_RUN_NOT_FOUND, TOOL_RUN_DELETED, WORKFLOW_RUN_OVER, WORKFLOW_SIGNAL_INVALID, TOOL_OPTION_INVALID */
export async function signalRun(
  store: Store,
  syntax: CommandSyntax,
  signal: { readonly runId: string; readonly name: string; readonly payload?: unknown } & SignalOptions,
): Promise<SignalAnswer> {
  const { runId, name, payload, key } = signal;
  const sent = await sendSignal(store, runId, name, payload, key === undefined ? {} : { key });
  if (sent.duplicate)
    return { ...sent, message: "A signal with this key was sent before; nothing was stored.", command: null };
  if (!sent.awaited)
    return { ...sent, message: "It is kept until a task of the run waits for it.", command: null };
  const row = await store.read(() => readRunRow(runId));
  if (row === undefined || row.state === "running")
    return { ...sent, message: "The run uses it now.", command: null };
  const { mayTake, because } = await readOutlook(store, row);
  return mayTake
    ? { ...sent, message: "A worker continues the run.", command: null }
    : {
        ...sent,
        message: `The run waits for it. ${because} To continue it, run the command.`,
        command: toCommand(syntax, "resume", [runId]),
      };
}
