/**
 * Spawns one launch with the descriptors that its tier expects. It must never give a child anything else of this
 * process: no variable, no descriptor, no terminal, and nothing on its standard input.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { closeSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import {
  FILTER_DESCRIPTOR,
  FIRST_HELD_DESCRIPTOR,
  GATE_DESCRIPTOR,
  OPTIONS_DESCRIPTOR,
  STATUS_DESCRIPTOR,
  type Launch,
} from "../tiers/launch.ts";
import { byteFiles } from "./byte-files.ts";
import { inheritedDescriptors } from "./inherited-descriptors.ts";
import { pipePool } from "./pipe-pool.ts";

export interface StartRequest {
  readonly launch: Launch;
  /** Merges both streams into one, in the order in which they were written. */
  readonly merge: boolean;
}

export interface StartedProcess {
  readonly child: ChildProcess;
  /** Reads both streams if they are merged and a pipe was available. Otherwise the child's own streams are used. */
  readonly merged: ((onChunk: (chunk: Buffer) => void) => Readable) | undefined;
}

export async function startProcess(request: StartRequest): Promise<StartedProcess> {
  const { launch, merge } = request;
  const pipe = merge ? await pipePool.take() : undefined;
  const stdio: Stdio[] = ["ignore", pipe?.writer ?? "pipe", pipe?.writer ?? (merge ? "ignore" : "pipe")];
  // A descriptor that has to stay open as long as this process lives can only be a pipe.
  stdio[FILTER_DESCRIPTOR] = launch.lifeline ? "pipe" : handOver(launch.filter);
  stdio[STATUS_DESCRIPTOR] = launch.reports ? "pipe" : "ignore";
  stdio[OPTIONS_DESCRIPTOR] = handOver(launch.options);
  const opened = new Set(stdio.filter((each) => typeof each === "number"));
  if (launch.expected !== undefined) stdio[GATE_DESCRIPTOR] = "pipe";
  // These stay open here: the owner of the plan closes them.
  for (const [index, descriptor] of launch.held.entries()) stdio[FIRST_HELD_DESCRIPTOR + index] = descriptor;
  const [file = "", ...args] = [...shellPrefix(merge && pipe === undefined, stdio), ...launch.argv];
  inheritedDescriptors.cover(stdio);
  try {
    const child = spawn(file, args, {
      cwd: launch.cwd,
      env: launch.env,
      stdio,
      // A separate process group, so that the group can be killed and a Ctrl-C at the terminal does not reach it.
      detached: true,
    });
    // A child may exit before it has read its input. Its exit status says more than a broken pipe.
    for (const stream of child.stdio) stream?.on("error", () => {});
    feed(child, OPTIONS_DESCRIPTOR, launch.options);
    feed(child, FILTER_DESCRIPTOR, launch.filter);
    return { child, merged: pipe?.read };
  } catch (error) {
    pipe?.discard();
    throw error;
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}

function handOver(bytes: Uint8Array | undefined): Stdio {
  return bytes === undefined ? "ignore" : (byteFiles.open(bytes) ?? "pipe");
}

/**
 * A shell does what spawn cannot: it joins the streams and closes descriptors that the child must not have. Empty if
 * neither is needed.
 */
function shellPrefix(joinStreams: boolean, stdio: readonly Stdio[]): string[] {
  const unused = stdio.flatMap((kind, descriptor) => {
    return descriptor > 2 && kind === "ignore" ? [`exec ${descriptor}<&-; `] : [];
  });
  if (!joinStreams && unused.length === 0) return [];
  return ["/bin/sh", "-c", `${joinStreams ? "exec 2>&1; " : ""}${unused.join("")}exec "$@"`, "sh"];
}

function feed(child: ChildProcess, descriptor: number, bytes: Uint8Array | undefined): void {
  const stream = child.stdio[descriptor] as Writable | null | undefined;
  if (stream === null || stream === undefined || bytes === undefined) return;
  stream.end(bytes);
}

type Stdio = "ignore" | "pipe" | number;
