/**
 * Identifies this process, so that another one on the same host can check whether it is alive. Pids are reused, so the
 * identity includes the boot, the pid namespace and the start time of the process.
 */
import { spawnSync } from "node:child_process";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

export interface ProcessIdentity {
  readonly host: string;
  readonly pid: number;
  readonly processStart: string;
}

export function identifyProcess(): ProcessIdentity {
  return { host: hostIdentity(), pid: process.pid, processStart: processStart(process.pid) ?? "unknown" };
}

/** `undefined` if this process cannot tell: another host, boot or pid namespace. */
export function isProcessAlive(identity: ProcessIdentity): boolean | undefined {
  if (identity.host !== hostIdentity() || identity.processStart === "unknown") return undefined;
  return processStart(identity.pid) === identity.processStart;
}

function hostIdentity(): string {
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    return `${boot} ${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    // No /proc: a system with one pid namespace. A reused pid after a reboot differs in its start.
    return `host ${hostname()}`;
  }
}

/** `undefined` when there is no such process. */
function processStart(pid: number): string | undefined {
  if (process.platform !== "linux") {
    const { stdout } = spawnSync("ps", ["-o", "lstart=", "-p", String(pid)], { encoding: "utf8" });
    return stdout?.trim() === "" ? undefined : stdout?.trim();
  }
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name in parentheses may contain anything; the fields after it are fixed: state is the 3rd, start time the 22nd.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    // A zombie has ended: it only waits to be reaped.
    return fields[0] === "Z" || fields[0] === "X" ? undefined : fields[19];
  } catch {
    return undefined;
  }
}
