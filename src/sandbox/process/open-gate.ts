/**
 * Lets a command start once its mounts match the plan. Until then the sandbox blocks on a descriptor. It must never
 * open the gate for a sandbox whose mounts it could not read.
 */
import { readFileSync } from "node:fs";
import type { Writable } from "node:stream";
import {
  areMounted,
  findMismatch,
  readMounts,
  type ExpectedMounts,
  type Mount,
} from "../tiers/verify-mounts.ts";

export interface Gate {
  /** Call it with everything that the status descriptor delivered so far. */
  onStatus(text: string): void;
  close(): void;
}

/** Calls `refuse` once, with the problem, if the command must not start. */
export function openGateWhenVerified(
  gate: Writable,
  expected: ExpectedMounts,
  refuse: (problem: string) => void,
): Gate {
  let isBegun = false;
  let isClosed = false;
  const look = (pid: number): void => {
    if (isClosed) return;
    let mounts: Mount[];
    try {
      // Reading the mounts slows down the process that creates them, so read them only when it appears to wait at the
      // gate.
      mounts = isWaiting(pid) ? readMounts(pid) : [];
    } catch {
      // The sandbox did not start. Its own message says why.
      return;
    }
    if (!areMounted(mounts)) {
      inRealTime(() => look(pid), POLL_MS);
      return;
    }
    const problem = findMismatch(pid, mounts, expected);
    if (problem === undefined) gate.end("x");
    else refuse(problem);
  };
  return {
    onStatus(text) {
      const pid = /"child-pid": (\d+)\b/.exec(text)?.[1];
      if (isBegun || pid === undefined) return;
      isBegun = true;
      look(Number(pid));
    },
    close() {
      isClosed = true;
      gate.destroy();
    },
  };
}

function isWaiting(pid: number): boolean {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  // The name before the state is in parentheses and may itself contain parentheses.
  return stat.startsWith("S", stat.lastIndexOf(")") + 2);
}

const POLL_MS = 1;
/** Saved at load time: the sandbox is built in real time, even when a test uses fake timers. */
const inRealTime = setTimeout;
