/**
 * A private folder for one operation, which is also the root of the sandbox in which the work tree is read. Its git
 * folder shares only the refs of the repository, so that no command reads a config, hook, attribute or index that it
 * could act on. New objects stay here until they are stored.
 *
 * Links lead from here into the repository. Only git in the sandbox may follow them: an agent can replace their
 * targets.
 */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ToolwrightError } from "../errors.ts";
import { isInside } from "../sandbox/is-inside.ts";
import { keepOutOf, temporaryFolder } from "../sandbox/temporary-folder.ts";
import type { IsolationMode } from "../sandbox/tiers/isolation-tier.ts";
import { pathsOutside, type Repository } from "./find-repository.ts";
import { readRepository, type RepositoryFacts } from "./read-repository.ts";
import { createGit, createShell, type Git, type GitSetup, type Shell } from "./run-git.ts";
import { readUserIgnores } from "./user-ignores.ts";

export interface PrivateGitDir extends Disposable {
  readonly folder: string;
  readonly index: string;
  /** Where new objects are written. */
  readonly objects: string;
  /** The commit of HEAD, or `undefined` before the first one. */
  readonly head: string | undefined;
  /** The root is read-only: git reads the work tree and writes only to this folder. */
  readonly reading: GitAccess;
  /** The git folder of the repository is writable, and this folder is read-only. */
  readonly storing: GitAccess;
  /** The root is writable, and this folder is read-only. */
  readonly restoring: GitAccess;
}

/** Functions that run in one kind of sandbox. */
export interface GitAccess {
  readonly setup: GitSetup;
  readonly git: Git;
  readonly shell: Shell;
}

interface OpenOptions {
  readonly isolation: IsolationMode;
  readonly signal?: AbortSignal | undefined;
}

/** `undefined` for a bare repository. */
export async function openPrivateGitDir(
  repository: Repository,
  options: OpenOptions,
): Promise<PrivateGitDir | undefined> {
  const folder = mkdtempSync(join(folderOutside(repository), "toolwright-snapshot-"));
  const dispose = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    const opened = await open(repository, folder, options);
    if (opened === undefined) dispose();
    return opened === undefined ? undefined : { ...opened, [Symbol.dispose]: dispose };
  } catch (error) {
    dispose();
    throw error;
  }
}

async function open(
  repository: Repository,
  folder: string,
  { isolation, signal }: OpenOptions,
): Promise<Omit<PrivateGitDir, typeof Symbol.dispose> | undefined> {
  const { program, root, top, gitDir, commonDir } = repository;
  const inside = (name: string): string => join(folder, name);
  const [own, inputs, objects, index] = ["git", "inputs", "objects", "index"].map(inside) as Four;
  for (const path of [inputs, objects, own]) mkdirSync(path);
  const common = { program, inputs, isolation, signal, cwd: gitDir, env: { GIT_DIR: gitDir } };
  const shown = [root, ...pathsOutside(repository)];
  const facts = await readRepository({ ...common, writable: folder, shown }, repository, { own, index });
  // A linked work tree of a bare repository is still a work tree.
  if (facts.isBare && commonDir === gitDir) return undefined;

  fillGitDir(own, facts);
  writeFileSync(join(own, "excludes"), await readUserIgnores(program, inputs));
  for (const name of ["refs", "packed-refs", "reftable"]) symlinkSync(join(commonDir, name), join(own, name));
  symlinkSync(join(commonDir, "objects"), inside("repository-objects"));
  // For commands that need no refs of the repository and must not see any.
  fillGitDir(inside("git-apart"), facts);
  mkdirSync(inside("git-apart/refs"));

  const env = { GIT_DIR: own, GIT_WORK_TREE: top, GIT_INDEX_FILE: index };
  const settings = [`core.excludesFile=${join(own, "excludes")}`, ...facts.passedOn];
  const borrowing = {
    GIT_OBJECT_DIRECTORY: objects,
    GIT_ALTERNATE_OBJECT_DIRECTORIES: inside("repository-objects"),
  };
  return {
    folder,
    index,
    objects,
    head: facts.head,
    reading: createAccess({
      ...common,
      settings,
      writable: folder,
      shown,
      cwd: top,
      env: { ...env, ...borrowing },
    }),
    storing: createAccess({
      ...common,
      settings,
      writable: isInside(commonDir, root) ? root : commonDir,
      shown: [folder],
      cwd: folder,
      env: { ...env, GIT_OBJECT_DIRECTORY: join(commonDir, "objects") },
      // Stopping in the middle would leave locks behind.
      signal: undefined,
    }),
    restoring: createAccess({
      ...common,
      settings,
      writable: root,
      shown: [folder],
      cwd: top,
      env: { ...env, GIT_DIR: inside("git-apart") },
    }),
  };
}

type Four = [string, string, string, string];

function createAccess(setup: GitSetup): GitAccess {
  return { setup, git: createGit(setup), shell: createShell(setup) };
}

function fillGitDir(folder: string, { objectFormat, refStorage }: RepositoryFacts): void {
  const config = ["[core]", "repositoryformatversion = 1", "bare = false", "[extensions]"];
  if (objectFormat !== "sha1") config.push(`objectFormat = ${objectFormat}`);
  if (refStorage !== "files") config.push(`refStorage = ${refStorage}`);
  mkdirSync(join(folder, "info"), { recursive: true });
  writeFileSync(join(folder, "HEAD"), "ref: refs/heads/none\n");
  writeFileSync(join(folder, "config"), `${config.join("\n")}\n`);
  writeFileSync(join(folder, "info", "attributes"), RAW_BYTES);
}

/**
 * Stores files byte for byte: no filters, no line ending conversion, no encodings. This file overrides every
 * `.gitattributes`.
 */
const RAW_BYTES = "* -text -ident !eol !crlf !filter !working-tree-encoding\n";

function folderOutside({ root }: Repository): string {
  keepOutOf(root);
  const folder = temporaryFolder();
  if (folder !== undefined) return folder;
  throw new ToolwrightError(
    "TOOL_OPTION_INVALID",
    "Snapshots need a temporary folder outside the root, and every one is inside it.",
    { hint: "Set TMPDIR to a folder outside the sandbox root.", effect: "none" },
  );
}
