/**
 * Guards the protected paths of a root while a command runs and after it ends. A mount disappears when the host
 * replaces the file below it, and a name that does not exist yet cannot be mounted over. It must never rename, move
 * or delete a file of the host: a file that appears while a command runs may be the user's.
 */
import { closeSync, unlinkSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { commonFolderOf } from "./git-folder.ts";
import {
  defuseNamed,
  defuseRepository,
  OBEYED_PARTS,
  openToOwner,
  separateFile,
} from "./defuse-repositories.ts";
import { reopenFolder } from "./reopen-folder.ts";
import { restoreLinks } from "./restore-links.ts";
import { forgedLists, indexStamps } from "./forged-lists.ts";
import { forgedRefs, type ForgedRef } from "./forged-refs.ts";
import { readGitGuards } from "./git-guards.ts";
import { strayLinks, type StrayLink } from "./git-links.ts";
import { CLOSED, defuseObscure, findObscure } from "./obscure-repositories.ts";
import {
  identityAt,
  isSame,
  openFolderBelow,
  readLinkOf,
  type Identity,
  type ProtectionPlan,
} from "./protection-plan.ts";
import { isInside } from "../is-inside.ts";
import { openParts } from "./open-parts.ts";
import { scanRoot, type RootFinds } from "./scan-root.ts";
import type { IsolationTier } from "../tiers/isolation-tier.ts";
import { foldName, GIT_OBEYED, isGitPath, isOwnName } from "./protected-names.ts";
import { programsOfOperations, removePrograms } from "./unfinished-operations.ts";
import { distrustFile, fileBehind } from "./untrusted-files.ts";
import { type Violation, violationError } from "./violation.ts";
import type { Watcher } from "./watch-folder.ts";
import { watchProtected } from "./watch-protected.ts";

/** Opening folders reveals others at most this many times. */
const MAX_ROUNDS = 64;

export interface CommandGuard {
  /** Starts watching. Calls `stop` once, when the command has to be stopped. */
  start(stop: () => void): void;
  /** Call it when no process of the command is left. Throws if something changed that no command may change. */
  finish(): void;
  /** Stops watching. Also call it for a command that did not run: watching keeps this process alive. */
  close(): void;
}

export function guardCommand(
  plan: ProtectionPlan & { readonly finds: RootFinds },
  tier: IsolationTier,
): CommandGuard {
  const root = plan.root.path;
  /** Whether the user's git must not write to this path because of something that a command left. */
  const isOff = ({ gitFolders }: RootFinds): ((path: string) => boolean) => {
    const guarded = [
      ...plan.protections.flatMap(({ kind, path }) => (kind === "pin" ? [] : [path])),
      ...gitFolders.flatMap((folder) => GIT_OBEYED.map((name) => join(folder, name))),
    ];
    return (path) => {
      const names = relative(root, path).split("/");
      return (
        !isInside(path, root) ||
        isGitPath(names) ||
        names.map(foldName).some(isOwnName) ||
        // In a folder above, git could write to it by the name of a branch.
        guarded.some((each) => isInside(path, each) || isInside(each, path))
      );
    };
  };
  const isOffBefore = isOff(plan.finds);
  /** Whether a command must not see what is at this path. */
  const isHidden = (path: string): boolean =>
    !isInside(path, root) ||
    plan.protections.some(({ kind, path: hidden }) => kind.startsWith("hide") && isInside(path, hidden));
  const linksBefore = plan.finds.gitFolders.map((folder) => strayLinks(folder, isOffBefore));
  const before = {
    folders: new Map(plan.finds.gitFolders.map((path) => [path, idOf(identityAt(path))])),
    own: new Map(plan.finds.own.map((path) => [path, fileBehind(path)])),
    repositories: openParts(plan),
    withCommon: new Set(plan.finds.gitFolders.filter((folder) => commonFolderOf(folder) !== undefined)),
    closed: new Set([...plan.finds.closed, ...linksBefore.flatMap(({ closed }) => closed)]),
    lost: new Set(plan.finds.lost),
    links: new Set(linksBefore.flatMap(({ links }) => links).map(idOfLink)),
    refs: new Set(plan.finds.gitFolders.flatMap((folder) => forgedRefs(folder).map(idOfRef(folder)))),
    indexes: new Map(plan.finds.gitFolders.map((folder) => [folder, indexStamps(folder)])),
    operations: new Map(plan.finds.gitFolders.map((folder) => [folder, programsOfOperations(folder)])),
    obscure: new Map(findObscure(root).map(({ key, stamp }) => [key, stamp])),
  };
  const foldersBefore = new Set(before.folders.values());
  const watched = new Set(plan.protections.flatMap((each) => (each.watched ? [each.path] : [])));
  /** By path. A violation that was seen while the command ran still counts if it is reverted before the end. */
  const violations = new Map<string, Violation>();
  let watching: Watcher | undefined;

  const lookAtKnown = (): void => {
    for (const { path, identity, watched, kind } of plan.protections) {
      if (!watched && kind !== "pin") continue;
      if (!isSame(identityAt(path), identity)) violations.set(path, { kind: "replaced", path });
    }
    for (const { path, target } of plan.links) {
      if (readLinkOf(path) !== target) violations.set(path, { kind: "replaced", path });
    }
    for (const [path, file] of before.own) {
      if (fileBehind(path) !== file) violations.set(path, { kind: "replaced", path });
    }
  };
  /** Opening one folder may reveal another. */
  const scanOpened = (): RootFinds => {
    for (let round = 0; ; round += 1) {
      const finds = scanRoot(root);
      const closed = finds.closed.filter((path) => !before.closed.has(path));
      if (closed.length === 0 || round === MAX_ROUNDS) return finds;
      for (const path of closed) {
        violations.set(path, { kind: "closed", path });
        reopenFolder(root, path, before.closed);
      }
    }
  };
  /** Lists folders that the command closed, too: git can use a link in them, because it knows its name. */
  const linksOf = (folder: string, isOffNow: (path: string) => boolean, mode: "look" | "change") => {
    for (let round = 0; ; round += 1) {
      const { links, closed } = strayLinks(folder, isOffNow);
      const closedNow = closed.filter((path) => !before.closed.has(path));
      for (const path of closedNow) violations.set(path, { kind: "closed", path });
      if (mode === "look" || closedNow.length === 0 || round === MAX_ROUNDS) return links;
      for (const path of closedNow) reopenFolder(root, path, before.closed);
    }
  };
  /** Inside a folder that was read-only or hidden for the command all the time: only the host can have made it. */
  const isOutOfReach = (path: string): boolean =>
    plan.protections.some(
      (each) => each.kind !== "pin" && isInside(path, each.path) && !violations.has(each.path),
    );
  const lookForNew = (mode: "look" | "change"): void => {
    // A large root takes long to scan, so once is enough if nothing was closed.
    const finds = mode === "change" ? scanOpened() : scanRoot(root);
    const isOffNow = isOff(finds);
    for (const path of finds.closed)
      if (!before.closed.has(path)) violations.set(path, { kind: "closed", path });
    for (const path of finds.own) if (!before.own.has(path)) violations.set(path, { kind: "appeared", path });
    for (const path of finds.gitFolders) {
      const id = idOf(identityAt(path));
      // An older command, which does not have these mounts, may have put another folder there.
      const isNew = before.folders.get(path) !== id && !isOutOfReach(path);
      // Folders that the command closed are opened first, and the error names them.
      const links = linksOf(path, isOffNow, mode);
      // Of a folder that was there before, a part may be new: a command can begin a repository and a later one finish it.
      const parts = isNew ? OBEYED_PARTS : (before.repositories.get(path) ?? []);
      // A folder that was there before may have been moved: its content proves nothing.
      const isMoved = foldersBefore.has(id);
      const taken = parts.length > 0 ? defuseRepository(root, path, mode, { isMoved, parts }) : [];
      // The user's own settings may name a folder of hooks in every work tree.
      if (isNew && mode === "change")
        for (const folder of hookFoldersOf(path))
          if (!isOutOfReach(folder)) taken.push(...defuseNamed(root, folder, "hooks"));
      if (taken.length > 0) violations.set(path, { kind: "repository", path, taken });
      if (!isNew && !before.withCommon.has(path) && commonFolderOf(path) !== undefined) {
        violations.set(join(path, "commondir"), { kind: "redirected", path: join(path, "commondir") });
        if (mode === "change") removePointer(root, join(path, "commondir"));
      }
      for (const link of links) {
        if (before.links.has(idOfLink(link))) continue;
        violations.set(link.path, { kind: "link", path: link.path, taken: [readLinkOf(link.path) ?? ""] });
        if (mode === "change") removePointer(root, link.path, "only a link");
      }
      for (const { file, listed } of forgedLists(
        path,
        before.indexes.get(path) ?? new Map<string, string>(),
        isHidden,
      )) {
        violations.set(join(path, file), { kind: "forged", path: join(path, file), taken: [listed] });
        if (mode === "change") removePointer(root, join(path, file));
      }
      for (const ref of forgedRefs(path)) {
        if (before.refs.has(idOfRef(path)(ref))) continue;
        const file = join(path, ref.file);
        violations.set(file, { kind: "ref", path: file, taken: [ref.target] });
        if (mode === "change") removePointer(root, file);
      }
      // Not while the command runs: its own rebase may use such lines.
      if (mode === "change") {
        for (const { file, what } of removePrograms(root, path, before.operations.get(path) ?? []))
          violations.set(join(path, file), { kind: "operation", path: join(path, file), taken: [what] });
      }
    }
    for (const path of finds.lost) {
      if (before.lost.has(path)) continue;
      violations.set(path, { kind: "redirected", path });
      if (mode === "change") removePointer(root, path);
    }
    const wasOpen = (key: string): boolean => before.obscure.get(key) !== CLOSED;
    for (const each of findObscure(root, mode === "change" ? wasOpen : undefined)) {
      if (before.obscure.get(each.key) === each.stamp) continue;
      if (each.stamp === CLOSED) {
        violations.set(each.key, { kind: "closed", path: join(root, each.shown) });
        continue;
      }
      const taken = defuseObscure(root, each, mode, isOffNow);
      if (taken.length > 0)
        violations.set(each.key, { kind: "repository", path: join(root, each.shown), taken });
    }
  };
  /** The command may have written to new settings before it was stopped. They may be the user's, so they stay. */
  const withSettings = (violation: Violation): Violation => {
    const { kind, path } = violation;
    if (kind !== "replaced" || !/^config(?:\.worktree)?$/.test(basename(path))) return violation;
    return { ...violation, taken: defuseRepository(root, dirname(path), "look") };
  };
  return {
    start(stop) {
      watching = watchProtected(plan, watched, (isWide, renamed) => {
        // A path that was moved away and back has still lost its mount.
        for (const path of renamed) violations.set(path, { kind: "replaced", path });
        lookAtKnown();
        if (isWide) lookForNew("look");
        if (violations.size === 0) return;
        watching?.close();
        stop();
      });
    },
    finish() {
      watching?.close();
      lookAtKnown();
      lookForNew("change");
      if (violations.size === 0) return;
      restoreLinks(root, plan.links);
      for (const { kind, path } of violations.values()) {
        // A replaced one may be the user's, but the command may have written to it before it was stopped.
        if (kind !== "appeared" && !before.own.has(path)) continue;
        distrustFile(path);
        // Otherwise a later command could change, through the other name, a file that the user has accepted.
        separateFile(root, path);
      }
      throw violationError([...violations.values()].map(withSettings), root, tier);
    },
    close: () => watching?.close(),
  };
}

function hookFoldersOf(gitDir: string): readonly string[] {
  if (foldName(basename(gitDir)) !== ".git") return [];
  return readGitGuards({ gitDir, workTree: dirname(gitDir) }).folders;
}

/** A link that was there may have a new target. */
const idOfLink = ({ path, target }: StrayLink): string => `${path}\0${target}`;

const idOfRef =
  (folder: string) =>
  ({ file, target }: ForgedRef): string =>
    `${folder}/${file}\0${target}`;

const idOf = (identity: Identity | undefined): string => `${identity?.dev}:${identity?.ino}`;

/** Removes a pointer such as `commondir`: git never creates one in a repository that has objects of its own. */
function removePointer(root: string, path: string, what: "anything" | "only a link" = "anything"): void {
  const folder = openFolderBelow(root, dirname(path));
  if (folder === undefined) return;
  try {
    const name = `/proc/self/fd/${folder}/${basename(path)}`;
    // The folder may have been exchanged with another since it was listed.
    if (what === "only a link" && readLinkOf(name) === undefined) return;
    openToOwner(`/proc/self/fd/${folder}`);
    unlinkSync(name);
  } catch {
    // Already gone.
  } finally {
    closeSync(folder);
  }
}
