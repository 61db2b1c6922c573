/**
 * Finds the settings and hooks that a command can create in the repositories of a root. Only existing paths can be mounted,
 * and the plan creates nothing in a folder that is not a repository yet, such as an empty `.git`. A path that was swapped
 * while the plan was made is not protected either.
 */
import { dirname, join } from "node:path";
import { OBEYED_PARTS, type ObeyedPart } from "./defuse-repositories.ts";
import type { ProtectionPlan } from "./protection-plan.ts";
import { lstatOf } from "./rules/rule.ts";
import type { RootFinds } from "./scan-root.ts";

/** By git folder, for every known one. A file that appears in these parts while the command runs may come from the command. */
export function openParts(
  plan: ProtectionPlan & { readonly finds: RootFinds },
): ReadonlyMap<string, readonly ObeyedPart[]> {
  const root = plan.root.path;
  const closed = new Set(plan.protections.flatMap(({ kind, path }) => (kind === "pin" ? [] : [path])));
  const isClosed = (path: string): boolean => {
    for (let current = path; current.length > root.length; current = dirname(current))
      if (closed.has(current)) return true;
    return false;
  };
  return new Map(
    plan.finds.gitFolders.map((folder) => [
      folder,
      OBEYED_PARTS.filter((name) => {
        const path = join(folder, name);
        // The root itself cannot be closed, and a link in it is compared before and after.
        return !isClosed(path) && (folder !== root || lstatOf(path)?.isSymbolicLink() !== true);
      }),
    ]),
  );
}
