/**
 * Guards the protected paths of a root while a command runs and after it ends. A mount disappears when the host
 * replaces the file below it, and a name that does not exist yet cannot be mounted over. It must never rename, move
 * or delete a file of the host: a file that appears while a command runs may be the user's.
 */
import { closeSync, realpathSync, statSync, unlinkSync, watch, type FSWatcher } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { ToolwrightError } from "../../errors.ts";
import { commonFolderOf } from "./git-folder.ts";
import { defuseRepository, openToOwner, separateFile } from "./defuse-repositories.ts";
import { defuseObscure, findObscure } from "./obscure-repositories.ts";
import { identityAt, isSame, openFolderBelow, readLinkOf, type ProtectionPlan } from "./protection-plan.ts";
import { scanRoot, type RootFinds } from "./scan-root.ts";
import type { IsolationTier } from "../tiers/isolation-tier.ts";
import { programsOfOperations, removePrograms } from "./unfinished-operations.ts";
import { distrustFile } from "./untrusted-files.ts";

export interface CommandGuard {
  /** Starts watching. Calls `stop` once, when the command has to be stopped. */
  start(stop: () => void): void;
  /** Call it when no process of the command is left. Throws if something changed that no command may change. */
  finish(): void;
}

export function guardCommand(
  plan: ProtectionPlan & { readonly finds: RootFinds },
  tier: IsolationTier,
): CommandGuard {
  const root = plan.root.path;
  const before = {
    own: new Map(plan.finds.own.map((path) => [path, fileBehind(path)])),
    repositories: new Set([...plan.finds.gitFolders, ...plan.finds.gitLinks, ...plan.finds.gitFiles]),
    withCommon: new Set(plan.finds.gitFolders.filter((folder) => commonFolderOf(folder) !== undefined)),
    closed: new Set(plan.finds.closed),
    lost: new Set(plan.finds.lost),
    operations: new Map(plan.finds.gitFolders.map((folder) => [folder, programsOfOperations(folder)])),
    obscure: new Map(findObscure(root).map(({ key, stamp }) => [key, stamp])),
  };
  /** By path. A violation that was seen while the command ran still counts if it is reverted before the end. */
  const violations = new Map<string, Violation>();
  let watching: Watching | undefined;

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
  const openClosed = (): void => {
    for (let round = 0; round < MAX_DEPTH; round += 1) {
      const closed = scanRoot(root).closed.filter((path) => !before.closed.has(path));
      if (closed.length === 0) return;
      for (const path of closed) {
        violations.set(path, { kind: "closed", path });
        openFolderToOwner(root, path);
      }
    }
  };
  const lookForNew = (mode: "look" | "change"): void => {
    if (mode === "change") openClosed();
    const finds = scanRoot(root);
    for (const path of finds.closed)
      if (!before.closed.has(path)) violations.set(path, { kind: "closed", path });
    for (const path of finds.own) if (!before.own.has(path)) violations.set(path, { kind: "appeared", path });
    for (const path of finds.gitFolders) {
      const isNew = !before.repositories.has(path);
      const taken = isNew ? defuseRepository(root, path, mode) : [];
      if (taken.length > 0) violations.set(path, { kind: "repository", path, taken });
      if (!isNew && !before.withCommon.has(path) && commonFolderOf(path) !== undefined) {
        violations.set(join(path, "commondir"), { kind: "redirected", path: join(path, "commondir") });
        if (mode === "change") removePointer(root, join(path, "commondir"));
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
    for (const each of findObscure(root)) {
      if (before.obscure.get(each.key) === each.stamp) continue;
      const taken = defuseObscure(root, each, mode);
      if (taken.length > 0)
        violations.set(each.key, { kind: "repository", path: join(root, each.shown), taken });
    }
  };
  return {
    start(stop) {
      watching = watchFolders(plan, (isWide) => {
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
      for (const { kind, path } of violations.values()) {
        // A replaced one may be the user's, but the command may have written to it before it was stopped.
        if (kind !== "appeared" && !before.own.has(path)) continue;
        distrustFile(path);
        // Otherwise a later command could change, through the other name, a file that the user has accepted.
        separateFile(root, path);
      }
      throw toError([...violations.values()], root, tier);
    },
  };
}

/** Which file a name leads to. A link's target may be created, and links on the way to it may change. */
function fileBehind(path: string): string | undefined {
  try {
    const real = realpathSync(path);
    const { dev, ino } = statSync(real, { bigint: true });
    return `${dev}:${ino}:${real}`;
  } catch {
    return undefined; // It is gone, or the link leads nowhere.
  }
}

interface Violation {
  readonly kind: "replaced" | "appeared" | "repository" | "redirected" | "closed" | "operation";
  readonly path: string;
  readonly taken?: readonly string[];
}

interface Watching {
  close(): void;
}

/** Most commands end sooner and need no watchers. The check at the end sees what happened before. */
const GRACE_MS = 25;
const TOGETHER_MS = 2;
const TICK_MS = 250;
const MAX_WATCHERS = 64;
const MAX_DEPTH = 64;

/** Calls `look` shortly after a change next to a protected path, and periodically for the whole root. */
function watchFolders(plan: ProtectionPlan, look: (isWide: boolean) => void): Watching {
  const watchers: FSWatcher[] = [];
  let isOver = false;
  let isAsked = false;
  const onEvent = (): void => {
    if (isAsked || isOver) return;
    isAsked = true;
    // A build causes thousands of events: check once for all that arrive together.
    setTimeout(() => {
      isAsked = false;
      if (!isOver) look(false);
    }, TOGETHER_MS).unref();
  };
  const tick = (): void => {
    if (isOver) return;
    const began = performance.now();
    look(true);
    // A large root takes longer to scan: spend at most a twentieth of the time on it.
    if (!isOver) timer = setTimeout(tick, Math.max(TICK_MS, (performance.now() - began) * 20));
  };
  let timer = setTimeout(() => {
    const folders = new Set([plan.root.path, ...plan.protections.map(({ path }) => dirname(path))]);
    for (const folder of [...folders].slice(0, MAX_WATCHERS)) {
      const watcher = watchFolder(folder, onEvent);
      if (watcher !== undefined) watchers.push(watcher);
    }
    tick();
  }, GRACE_MS);
  return {
    close() {
      isOver = true;
      clearTimeout(timer);
      for (const watcher of watchers.splice(0)) watcher.close();
    },
  };
}

function watchFolder(folder: string, onEvent: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(folder, { persistent: false }, onEvent);
    watcher.on("error", () => watcher.close());
    return watcher;
  } catch {
    return undefined; // No watches are left: the periodic check has to do.
  }
}

function openFolderToOwner(root: string, path: string): void {
  const folder = openFolderBelow(root, path);
  if (folder === undefined) return;
  openToOwner(`/proc/self/fd/${folder}`);
  closeSync(folder);
}

/** Removes a pointer such as `commondir`: git never creates one in a repository that has objects of its own. */
function removePointer(root: string, path: string): void {
  const folder = openFolderBelow(root, dirname(path));
  if (folder === undefined) return;
  try {
    openToOwner(`/proc/self/fd/${folder}`);
    unlinkSync(`/proc/self/fd/${folder}/${basename(path)}`);
  } catch {
    // Already gone.
  } finally {
    closeSync(folder);
  }
}

function toError(violations: readonly Violation[], root: string, tier: IsolationTier): ToolwrightError {
  const message = violations.map((each) => sentenceOf(each, relative(root, each.path))).join(" ");
  const paths = violations.map(({ path }) => relative(root, path));
  return new ToolwrightError("TOOL_PATH_PROTECTED", message, {
    details: { paths, tier },
    effect: "happened",
    hint: "Look at the named files before you use them, then run the command again without touching them.",
  });
}

function sentenceOf({ kind, taken = [] }: Violation, path: string): string {
  const shown = JSON.stringify(path);
  switch (kind) {
    case "replaced":
      return `The protected path ${shown} was replaced while the command ran, which ended its protection, so the command was stopped.`;
    case "appeared":
      return `${shown} appeared while a command ran, and no command may make it. It was left in place; Toolwright does not use it until a person accepts it.`;
    case "redirected":
      return `The command made ${shown}, which sends git to settings of its own choice. It was removed.`;
    case "closed":
      return `The command took away the right to list the folder ${shown}, in which git or Toolwright could find something to run. It was given back.`;
    case "operation":
      return `The command left a program in ${shown} (${taken.join(", ")}), which git would run when the operation is continued. It was turned off.`;
    case "repository":
      return `The repository ${shown} appeared or changed while a command ran, with settings or hooks that git would run (${taken.join(", ")}). They were turned off.`;
  }
}
