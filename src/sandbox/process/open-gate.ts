/**
 * Lets a command start once its mounts are what they should be. Until then the sandbox waits at a descriptor. It must never
 * open the gate of a sandbox that it could not look at.
 */
import { readFileSync } from "node:fs";
import type { Writable } from "node:stream";
import {
  areMounted,
  findMismatch,
  readMounts,
  type ExpectedMounts,
  type Mount,
} from "../isolation/verify-mounts.ts";

export interface Gate {
  /** To be called with all that came on the status descriptor so far. */
  onStatus(text: string): void;
  close(): void;
}

/** `refuse` is called once, with what is wrong, when the command must not start. */
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
      // To read the mounts holds up whoever makes them, so they are read only when it seems to wait at the gate.
      mounts = isWaiting(pid) ? readMounts(pid) : [];
    } catch {
      // The sandbox did not come to be; its own words tell why.
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
  // The name before the state is in parentheses and may hold any.
  return stat.startsWith("S", stat.lastIndexOf(")") + 2);
}

const POLL_MS = 1;
/** As it was when this was loaded: the sandbox is built in real time, also where a test holds the timers. */
const inRealTime = setTimeout;
