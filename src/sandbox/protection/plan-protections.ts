/**
 * Which paths inside a root a command must not touch: the finds of the list that file tools share (`protected.ts`), and
 * the paths that the caller names.
 */
import { resolve } from "node:path";
import { isInside } from "../is-inside.ts";
import { otherNames } from "./hard-links.ts";
import { PROTECTED } from "./protected.ts";
import { holdProtections, makeMissing, type ProtectionPlan } from "./protection-plan.ts";
import type { ProtectedPath } from "./protection-plan.ts";
import { isDirectory, lstatOf } from "./rules/rule.ts";
import { scanRoot, type RootFinds } from "./scan-root.ts";

export interface ProtectionRequest {
  /** The real root. */
  readonly root: string;
  readonly hidden: readonly string[];
  readonly readOnly: readonly string[];
  /** If the root is read-only, only hidden paths matter, and nothing is created. */
  readonly rootReadOnly: boolean;
}

/** Scans the root and holds the paths that it finds. The caller closes the plan. */
export function planProtections(request: ProtectionRequest): ProtectionPlan & { readonly finds: RootFinds } {
  const { root, rootReadOnly } = request;
  const finds = scanRoot(root);
  const rules = rootReadOnly ? PROTECTED.filter(({ access }) => access === "hide") : PROTECTED;
  const found = rules.flatMap((rule) => rule.find({ root, finds }));
  const named = request.readOnly.map((path) => resolve(root, path)).filter((path) => isInside(path, root));
  if (!rootReadOnly) found.push(...named.map((path) => ({ kind: "readOnly", path }) as const));
  found.push(...hiddenPaths(request, found));
  found.push(...otherNames(root, found, !rootReadOnly));
  return { ...holdProtections(root, found, rootReadOnly ? [] : linksOf(finds)), finds };
}

/** What no tool may see in a root, regardless of the paths that the caller names. */
export function hiddenInRoot(root: string): string[] {
  const finds = scanRoot(root);
  return PROTECTED.filter((rule) => "hides" in rule).flatMap((rule) =>
    rule.find({ root, finds }).map(({ path }) => path),
  );
}

function hiddenPaths(
  { root, hidden, rootReadOnly }: ProtectionRequest,
  found: readonly ProtectedPath[],
): ProtectedPath[] {
  const folders = found.filter(({ kind }) => kind === "hideFolder");
  return hidden.flatMap((given): ProtectedPath[] => {
    const path = resolve(root, given);
    if (!isInside(path, root) || folders.some((folder) => isInside(path, folder.path))) return [];
    // Prevents a command from forging a store's missing log. For SQLite an empty log is the same as none.
    if (!rootReadOnly && lstatOf(path) === undefined) makeMissing(root, path, "file");
    return [{ path, kind: isDirectory(path) ? "hideFolder" : "hideFile" }];
  });
}

function linksOf(finds: RootFinds): string[] {
  return [...finds.gitLinks, ...finds.own].filter((path) => lstatOf(path)?.isSymbolicLink() === true);
}
