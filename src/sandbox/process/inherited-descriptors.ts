/**
 * Descriptors that this process itself was started with and that every child would get: a socket or a file of whoever
 * started the agent. Node opens its own with O_CLOEXEC, so the list is complete at the first look and never grows.
 */
import { openSync, readdirSync, readFileSync } from "node:fs";

export const inheritedDescriptors = createInheritedDescriptors();

export function createInheritedDescriptors(): { cover(stdio: unknown[]): void } {
  let found: readonly number[] | undefined;
  let nothing: number | undefined;
  return {
    /** Puts /dev/null in the place of each, unless the child gets something of ours there. */
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
    return []; // No /proc, as on macOS: there Node closes on exec by default.
  }
}

function isInherited(descriptor: number): boolean {
  try {
    const flags = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, "utf8"))?.[1];
    return descriptor > 2 && flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
  } catch {
    return false; // The descriptor of the listing itself, closed by now.
  }
}
