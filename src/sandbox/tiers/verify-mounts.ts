/**
 * Compares the mounts of a sandbox with its plan, after they are created and before the command starts. A name can be
 * swapped between the scan and the mount, so only the actual mounts count. It must never accept mounts that it cannot
 * read.
 */
import { lstatSync } from "node:fs";
import { isInside } from "../is-inside.ts";
import { readText } from "../read-plain-file.ts";
import {
  isSame,
  type Identity,
  type Protection,
  type ProtectionPlan,
} from "../protection/protection-plan.ts";

export interface Mount {
  readonly point: string;
  readonly readOnly: boolean;
  readonly type: string;
}

/** In creation order: of several mounts at one path, the last is visible. */
export function parseMountInfo(text: string): Mount[] {
  return text.split("\n").flatMap((line): Mount[] => {
    const fields = line.split(" ");
    const [, , , , point, options] = fields;
    const type = fields[fields.indexOf("-") + 1];
    if (point === undefined || options === undefined || type === undefined) return [];
    return [{ point: unescape(point), readOnly: options.split(",").includes("ro"), type }];
  });
}

/** Spaces, tabs, line breaks and backslashes are written as octal numbers. */
function unescape(path: string): string {
  if (!path.includes("\\")) return path;
  const bytes = Buffer.from(path, "utf8").toString("latin1");
  const plain = bytes.replaceAll(/\\([0-7]{3})/g, (_, octal: string) =>
    String.fromCharCode(Number.parseInt(octal, 8)),
  );
  return Buffer.from(plain, "latin1").toString("utf8");
}

/** Whether bubblewrap has finished its mounts: the last step of the profile makes the new root read-only. */
export function areMounted(mounts: readonly Mount[]): boolean {
  return mounts.some(({ point, readOnly, type }) => point === "/" && readOnly && type === "tmpfs");
}

export function readMounts(pid: number | "self"): Mount[] {
  return parseMountInfo(readText(`/proc/${pid}/mountinfo`));
}

export interface ExpectedMounts {
  readonly plan: ProtectionPlan;
  readonly rootReadOnly: boolean;
  /** More hidden paths in the root, such as sockets of the host. */
  readonly hiddenFiles: readonly string[];
}

/** Describes the difference from the plan, or returns undefined if there is none. */
export function findMismatch(
  pid: number,
  mounts: readonly Mount[],
  expected: ExpectedMounts,
): string | undefined {
  const { plan, rootReadOnly } = expected;
  const seen = new Map(mounts.map((mount) => [mount.point, mount]));
  const root = seen.get(plan.root.path);
  if (root === undefined || root.readOnly !== rootReadOnly) return "the root is not mounted as it should be";
  if (!isSame(identityInside(pid, plan.root.path), plan.root.identity)) return "the root is another folder";
  for (const protection of plan.protections) {
    const problem = checkProtection(pid, seen.get(protection.path), protection, rootReadOnly);
    if (problem !== undefined) return `${protection.path.slice(plan.root.path.length + 1)} ${problem}`;
  }
  return findStranger(mounts, expected);
}

function checkProtection(
  pid: number,
  mount: Mount | undefined,
  { kind, path, identity }: Protection,
  rootReadOnly: boolean,
): string | undefined {
  if (rootReadOnly && (kind === "pin" || kind === "readOnly")) return undefined;
  if (mount === undefined) return "is not protected";
  if (kind === "hideFolder") return mount.type === "tmpfs" ? undefined : "is not hidden";
  if (kind === "hideFile") return isDevice(pid, path) ? undefined : "is not hidden";
  if (kind === "readOnly" && !mount.readOnly) return "is not read-only";
  return isSame(identityInside(pid, path), identity) ? undefined : "was replaced";
}

/** Types of file systems that exist only for the sandbox. */
const PRIVATE_TYPES = new Set(["tmpfs", "proc", "devpts", "mqueue"]);

/** Finds a mount that is not in the plan, in the root or writable elsewhere: a swapped name misled bubblewrap. */
function findStranger(mounts: readonly Mount[], { plan, hiddenFiles }: ExpectedMounts): string | undefined {
  const asked = new Set([plan.root.path, ...hiddenFiles, ...plan.protections.map(({ path }) => path)]);
  let ofHost: Set<string> | undefined;
  for (const { point, readOnly, type } of mounts) {
    if (asked.has(point)) continue;
    if (isInside(point, plan.root.path)) {
      // Folders of the root that are mount points on the host are mounted along with it.
      ofHost ??= new Set(readMounts("self").map((mount) => mount.point));
      if (!ofHost.has(point)) return `something is mounted at ${point}`;
    } else if (!readOnly && !PRIVATE_TYPES.has(type) && !isInside(point, "/dev")) {
      return `something is mounted at ${point} and can be written`;
    }
  }
  return undefined;
}

function identityInside(pid: number, path: string): Identity | undefined {
  try {
    const { dev, ino } = lstatSync(`/proc/${pid}/root${path}`, { bigint: true });
    return { dev, ino };
  } catch {
    return undefined; // Does not exist, which is also a mismatch.
  }
}

function isDevice(pid: number, path: string): boolean {
  try {
    return lstatSync(`/proc/${pid}/root${path}`).isCharacterDevice();
  } catch {
    return false;
  }
}
