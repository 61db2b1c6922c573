/**
 * Descriptors that this process inherited and that every child would inherit too, such as a socket or a file of the
 * process that started the agent. Node opens its own descriptors with O_CLOEXEC, so the list is complete at the first
 * read and never grows.
 */
import { openSync, readdirSync, readFileSync } from "node:fs";

export const inheritedDescriptors = createInheritedDescriptors();

export function createInheritedDescriptors(): { cover(stdio: unknown[]): void } {
  let found: readonly number[] | undefined;
  let nothing: number | undefined;
  return {
    /** Replaces each with /dev/null, unless the child gets one of our descriptors at that number. */
    cover(stdio) {
      found ??= findInherited();
      for (const descriptor of found) {
        if (stdio[descriptor] !== undefined) continue;
        nothing ??= openSync("/dev/null", "r");
        while (stdio.length < descriptor) stdio.push("ignore");
        stdio[descriptor] = nothing;
      }
    },
  };
}

const CLOSE_ON_EXEC = 0o2000000;

function findInherited(): number[] {
  try {
    return readdirSync("/proc/self/fd").map(Number).filter(isInherited);
  } catch {
    return []; // No /proc, as on macOS, where Node closes descriptors on exec by default.
  }
}

function isInherited(descriptor: number): boolean {
  try {
    const flags = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, "utf8"))?.[1];
    return descriptor > 2 && flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
  } catch {
    return false; // The descriptor of the directory listing itself, which is closed by now.
  }
}
