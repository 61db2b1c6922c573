/** Claims an agent or a program for this worker and runs it: one that was enqueued, or one whose process has died. */
import { ToolwrightError } from "../errors.ts";
import { encodeCleanError, wrapThrown } from "../invoke/error-record.ts";
import { runClaimName } from "../invoke/failed-writes.ts";
import type { Host } from "../invoke/host.ts";
import { Released, type RunRelease } from "../invoke/run-release.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { Transaction } from "../store/store.ts";
import { claimProgram, endProgram, readProgram, releaseProgram } from "../store/tables/program-claims.ts";
import { decode } from "../util/encode.ts";
import type { Program } from "./options.ts";

const MOST_TAKEOVERS = 5;

export interface ProgramRun {
  readonly host: Host;
  readonly runtime: Runtime;
  readonly runId: string;
  readonly program: Program;
  readonly release: RunRelease;
  /** @param takeovers how often in a row it was taken over from a dead owner, if it was */
  readonly onClaimed: (takeovers?: number) => void;
}

export async function runProgram(options: ProgramRun): Promise<"ended" | "lost"> {
  const { host, runId, release } = options;
  // A program that was given back here still runs. Beside it, a second one would share its claim.
  if (host.claimed.has(runId)) return "lost";
  const stored = await host.store.read(() => readProgram(runId));
  if (stored === undefined) return "lost";
  if (stored.ownerId !== null && stored.ownerId !== host.ownerId && (await host.isOwnerAlive(stored.ownerId)))
    return "lost";
  const claim = {
    ownerId: host.ownerId,
    nowMs: host.clock.now(),
    crashLoop: { most: MOST_TAKEOVERS, errorJson: encodeCleanError(crashLoop(runId)) },
  };
  const { ownerId } = host;
  const held = { ownerId, epoch: stored.epoch + 1 };
  const claimed = await host.failedWrites.claim(
    runClaimName(runId, held.epoch),
    () => claimProgram(runId, stored, claim),
    () => releaseProgram(runId, held, host.clock.now()),
  );
  if (claimed === undefined) return "lost";
  const own = { release, epoch: claimed.epoch };
  host.claimed.set(runId, own);
  options.onClaimed(claimed.takeovers);
  release.setTasks(1);
  const input = stored.inputJson === null ? undefined : decode(stored.inputJson);
  const ended = await settle(options, input, () => {
    if (host.claimed.get(runId) === own) host.claimed.delete(runId);
  });
  const write = (): Transaction<void> =>
    ended.kind === "released"
      ? releaseProgram(runId, held, host.clock.now())
      : endProgram(runId, held, ended.errorJson, host.clock.now());
  await host.store.transaction(write, "normal").catch((error: unknown) => {
    host.failedWrites.add(runClaimName(runId, held.epoch), write);
    throw error;
  });
  return "ended";
}

type Ended = { readonly kind: "released" } | { readonly kind: "ended"; readonly errorJson: string | null };

/** @param onReturned the program no longer runs; it may ignore that its run was given back */
async function settle(
  { runtime, runId, program, release }: ProgramRun,
  input: unknown,
  onReturned: () => void,
): Promise<Ended> {
  const { signal } = release;
  const released = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
  released.catch(() => undefined);
  try {
    const work = Promise.resolve().then(() => program({ runId, input, signal, runtime }));
    work.then(onReturned, onReturned);
    await Promise.race([work, released]);
    return signal.aborted ? { kind: "released" } : { kind: "ended", errorJson: null };
  } catch (error) {
    if (signal.aborted || isLost(error)) return { kind: "released" };
    if (ToolwrightError.is(error) && error.code === "TOOL_APPROVAL_PENDING")
      return { kind: "ended", errorJson: null };
    const failure = wrapThrown(error, "TOOL_EXECUTION_FAILED", { hint: "" });
    return { kind: "ended", errorJson: encodeCleanError(failure) };
  }
}

/** The run is not over: its store failed, or it belongs to another worker. An agent wraps the reason of its abort. */
function isLost(error: unknown): boolean {
  if (error instanceof Released) return true;
  if (!ToolwrightError.is(error)) return false;
  if (error.code === "TOOL_ABORTED") return isLost(error.cause);
  return error.code === "TOOL_STORE_FAILED" || error.code === "TOOL_RUN_FENCED";
}

function crashLoop(runId: string): ToolwrightError {
  return new ToolwrightError(
    "WORKFLOW_CRASH_LOOP",
    `Run "${runId}" was taken over ${MOST_TAKEOVERS} times in a row without progress, and its worker died again.`,
    { details: { runId, takeovers: MOST_TAKEOVERS } },
  );
}
