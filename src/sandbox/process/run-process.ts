/**
 * Runs one launch, collects its output and ends it: when it exits, times out, is aborted, or floods its output. It
 * must never settle before every process that it can end has ended, and never wait for a child that keeps the pipe
 * open.
 */
import type { ChildProcess } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { FILTER_DESCRIPTOR, GATE_DESCRIPTOR, STATUS_DESCRIPTOR, type Launch } from "../tiers/launch.ts";
import { killDescendants } from "./kill-descendants.ts";
import { limitResources } from "./limit-resources.ts";
import { openGateWhenVerified } from "./open-gate.ts";
import { createOutputBuffer, type OutputBuffer } from "./output-buffer.ts";
import { startProcess, type StartRequest } from "./start-process.ts";
import { parseStatus, type StatusReport } from "./status-report.ts";

export interface ProcessRequest extends StartRequest {
  readonly maxOutputBytes: number;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Whether to limit memory and the number of processes, where possible. */
  readonly limited?: boolean | undefined;
  /**
   * Ends the process after this many bytes of output. Defaults to 16 MB or twice `maxOutputBytes`, whichever is
   * larger.
   */
  readonly floodBytes?: number | undefined;
  /** Called when the command has been spawned, with a function that stops it as a violation. */
  readonly onSpawn?: ((stop: () => void) => void) | undefined;
}

export interface ProcessResult {
  readonly output: OutputBuffer;
  /** Empty if the streams were merged. */
  readonly errors: OutputBuffer;
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stopped: "timeout" | "abort" | "flood" | "mismatch" | "violation" | undefined;
  /** With `mismatch`: how the mounts differ from the plan. Nothing ran. */
  readonly mismatch: string | undefined;
  readonly status: StatusReport;
}

export async function runProcess(request: ProcessRequest): Promise<ProcessResult> {
  try {
    return await runLaunch(request);
  } finally {
    request.launch.onEnd?.();
  }
}

async function runLaunch(request: ProcessRequest): Promise<ProcessResult> {
  const { launch, signal, maxOutputBytes } = request;
  const { child, merged: readMerged } = await startProcess(request);
  const output = createOutputBuffer(maxOutputBytes);
  const errors = createOutputBuffer(maxOutputBytes);
  const status = createOutputBuffer(STATUS_BYTES);
  const floodBytes = request.floodBytes ?? Math.max(FLOOD_BYTES, 2 * maxOutputBytes);

  return new Promise((settle, fail) => {
    let stopped: ProcessResult["stopped"];
    const stop = (why: NonNullable<ProcessResult["stopped"]>): void => {
      stopped ??= why;
      endTree(child, launch);
    };
    const gather = (into: OutputBuffer) => {
      return (chunk: Buffer): void => {
        // Drop output that arrives between the kill and the exit: a search shows everything that it collects.
        if (into.total > floodBytes) return;
        into.push(chunk);
        if (into.total > floodBytes) stop("flood");
      };
    };
    const merged = readMerged?.(gather(output));
    merged?.on("error", () => {});
    streamOf(child, 1)?.on("data", gather(output));
    streamOf(child, 2)?.on("data", gather(errors));
    // Messages of bubblewrap itself are not output of the command.
    let mismatch: string | undefined;
    const gate =
      launch.expected === undefined
        ? undefined
        : openGateWhenVerified(
            (child.stdio as readonly unknown[])[GATE_DESCRIPTOR] as Writable,
            launch.expected,
            (problem) => {
              mismatch = problem;
              stop("mismatch");
            },
          );
    streamOf(child, STATUS_DESCRIPTOR)?.on("data", (chunk: Buffer) => {
      status.push(chunk);
      gate?.onStatus(status.text());
    });

    const limit = request.limited === true && child.pid !== undefined ? limitResources(child.pid) : undefined;
    const onAbort = (): void => stop("abort");
    const timer = setTimeout(() => stop("timeout"), request.timeoutMs);
    signal?.addEventListener("abort", onAbort, { once: true });
    if (signal?.aborted === true) onAbort();
    request.onSpawn?.(() => stop("violation"));

    child.once("error", (error) => {
      clearTimeout(timer);
      gate?.close();
      signal?.removeEventListener("abort", onAbort);
      merged?.destroy();
      fail(error);
    });
    child.once("exit", () => {
      limit?.stop();
      gate?.close();
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      if (launch.kill === "group") endTree(child, launch, stopped === undefined ? "younger" : "everybody");
      // The scan misses a process that is between two programs at that moment, and one that escaped may hold the pipe
      // open indefinitely.
      setTimeout(() => {
        if (isClosed) return;
        if (launch.kill === "group" && child.pid !== undefined) killDescendants(child.pid, launch.env);
        closeStreams(child, merged);
      }, CLOSE_LIMIT_MS).unref();
    });
    let isClosed = false;
    const finish = (exitCode: number | null, exitSignal: NodeJS.Signals | null): void => {
      isClosed = true;
      const report = parseStatus(status.text());
      mismatch ??= report.mismatch;
      const why = stopped ?? (mismatch === undefined ? undefined : "mismatch");
      settle({ output, errors, exitCode, signal: exitSignal, stopped: why, mismatch, status: report });
    };
    child.once("close", (exitCode, exitSignal) => {
      if (merged === undefined || merged.closed) finish(exitCode, exitSignal);
      else merged.once("close", () => finish(exitCode, exitSignal));
    });
  });
}

const FLOOD_BYTES = 16 * 1_048_576;
const STATUS_BYTES = 65_536;
const CLOSE_LIMIT_MS = 250;
const SUPERVISOR_LIMIT_MS = 2_000;

function endTree(child: ChildProcess, launch: Launch, who: "everybody" | "younger" = "everybody"): void {
  const { pid } = child;
  if (pid === undefined) return;
  if (launch.kill === "supervisor") {
    (child.stdio[FILTER_DESCRIPTOR] as Writable | null | undefined)?.destroy();
    setTimeout(() => killGroup(pid), SUPERVISOR_LIMIT_MS).unref();
    return;
  }
  if (launch.kill === "group") killDescendants(pid, launch.env, who);
  killGroup(pid);
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The group has no processes left.
  }
}

function closeStreams(child: ChildProcess, merged: Readable | undefined): void {
  for (const stream of [...child.stdio, merged]) stream?.destroy();
}

function streamOf(child: ChildProcess, descriptor: number): Readable | undefined {
  return (child.stdio[descriptor] as Readable | null | undefined) ?? undefined;
}
