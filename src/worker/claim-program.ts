/** Claims an agent or a program for this worker and runs it: one that was enqueued, or one whose process has died. */
import { ToolwrightError } from "../errors.ts";
import { encodeCleanError, wrapThrown } from "../invoke/error-record.ts";
import { runClaimName } from "../invoke/failed-writes.ts";
import type { ClaimedByWorker, Host } from "../invoke/host.ts";
import { endProgramTask } from "../invoke/recording/keep-recording.ts";
import { Released, type RunRelease } from "../invoke/run-release.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { Transaction } from "../store/store.ts";
import { keepProgramInput } from "../store/tables/recordings.ts";
import {
  claimProgram,
  endProgram,
  holdClaim,
  readProgram,
  releaseProgram,
} from "../store/tables/program-claims.ts";
import type { RecordedTask } from "../store/tables/recorded-responses.ts";
import { readOwnersOfScopes } from "../store/tables/scopes.ts";
import { systemClock } from "../util/clock.ts";
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
  // Its own program resumes it, in this runtime: the owner is the same, and alive.
  if (host.isOpenHere(runId)) return "lost";
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
  options.onClaimed(claimed.takeovers);
  release.setTasks(1);
  const input = stored.inputJson === null ? undefined : decode(stored.inputJson);
  const tasks: RecordedTask[] = [];
  const ended = await runUntilFree(options, { release, epoch: claimed.epoch, ended: tasks }, input);
  if (tasks.length > 0) await host.streams.beforeDeletion(runId);
  const write = function* (): Transaction<void> {
    const now = host.clock.now();
    if (ended.kind === "released") return yield* releaseProgram(runId, held, now);
    if (yield* holdClaim(runId, held.epoch)) yield* keepProgramInput(runId);
    const hasFinished = yield* endProgram(runId, held, ended.errorJson, now);
    // One that waits or has failed may run again, and then needs what its models said.
    if (hasFinished) for (const task of tasks) yield* endProgramTask(task);
  };
  await host.store.transaction(write, "normal").catch((error: unknown) => {
    host.failedWrites.add(runClaimName(runId, held.epoch), write);
    throw error;
  });
  return "ended";
}

type Ended = { readonly kind: "released" } | { readonly kind: "ended"; readonly errorJson: string | null };

/**
 * A program of this process may open the run after the worker has claimed it, and before the worker's own program does. Neither
 * has failed then: the worker's program runs again when the other one has closed what it opened, and finds what is recorded.
 */
async function runUntilFree(options: ProgramRun, own: ClaimedByWorker, input: unknown): Promise<Ended> {
  const { host, runId, release } = options;
  const onReturned = (): void => {
    if (host.claimed.get(runId) === own) host.claimed.delete(runId);
  };
  for (let times = 1; ; times += 1) {
    host.claimed.set(runId, own);
    const ended = await settle(options, input, onReturned);
    if (ended.kind !== "taken") return ended;
    const isFree = await whenClosed(options);
    // The other program continues the run. Giving it back would fence that program.
    if (!isFree && release.signal.aborted) return { kind: "ended", errorJson: null };
    if (release.signal.aborted) return { kind: "released" };
    // A program that opens its own task twice would never end.
    if (!isFree || times === MOST_TIMES) return { kind: "ended", errorJson: ended.errorJson };
  }
}

const MOST_TIMES = 5;
const LOOK_MS = 100;
/** Turns of agents take minutes. */
const LONGEST_WAIT_MS = 600_000;

/** `false` if a task of the run is still open when the run is given back, or after a long time. */
async function whenClosed({ host, runId, release }: ProgramRun): Promise<boolean> {
  for (const giveUpAtMs = performance.now() + LONGEST_WAIT_MS; ;) {
    // While the store fails, nothing is known.
    if (await isClosed(host, runId).catch(() => false)) return true;
    if (release.signal.aborted || performance.now() > giveUpAtMs) return false;
    await systemClock.sleep(LOOK_MS, release.signal).catch(() => undefined);
  }
}

async function isClosed(host: Host, runId: string): Promise<boolean> {
  for (const ownerId of await host.store.read(() => readOwnersOfScopes(runId)))
    if (await host.isOwnerAlive(ownerId)) return false;
  return true;
}

/** @param onReturned the program no longer runs; it may ignore that its run was given back */
async function settle(
  { runtime, runId, program, release }: ProgramRun,
  input: unknown,
  onReturned: () => void,
): Promise<Ended | { readonly kind: "taken"; readonly errorJson: string }> {
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
    const isTaken = failure.code === "TOOL_RUN_CONFLICT" && failure.details["runId"] === runId;
    return { kind: isTaken ? "taken" : "ended", errorJson: encodeCleanError(failure) };
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
