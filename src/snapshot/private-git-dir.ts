/**
 * A git folder of our own for the time of one operation: it shares the objects and the refs of the repository and
 * nothing else, so that no config, hook, attribute or index of the repository is ever read by a command that could
 * act on it. It must never lie where an agent can write.
 */
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ToolwrightError } from "../errors.ts";
import { isInside } from "../sandbox/isolation/is-inside.ts";
import type { Repository } from "./find-repository.ts";
import type { RepositorySettings } from "./repository-settings.ts";
import { createGit, type Git } from "./run-git.ts";

export interface PrivateGitDir extends Disposable {
  readonly folder: string;
  /** Runs git at the top of the work tree, with the index below. */
  readonly git: Git;
  readonly index: string;
}

export function openPrivateGitDir(
  repository: Repository,
  settings: RepositorySettings,
  signal?: AbortSignal,
): PrivateGitDir {
  const { program, top, commonDir } = repository;
  const folder = mkdtempSync(join(temporaryFolder(repository), "toolwright-snapshot-"));
  const dispose = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    mkdirSync(join(folder, "info"));
    writeFileSync(join(folder, "HEAD"), "ref: refs/heads/none\n");
    writeFileSync(join(folder, "config"), configOf(settings));
    writeFileSync(join(folder, "info", "attributes"), RAW_BYTES);
    writeFileSync(join(folder, "info", "exclude"), excludesOf(commonDir));
    for (const name of ["refs", "packed-refs", "reftable"])
      symlinkSync(join(commonDir, name), join(folder, name));
  } catch (error) {
    dispose();
    throw error;
  }
  const index = join(folder, "index");
  const env = {
    GIT_DIR: folder,
    GIT_WORK_TREE: top,
    GIT_INDEX_FILE: index,
    GIT_OBJECT_DIRECTORY: join(commonDir, "objects"),
  };
  const git = createGit({ program, cwd: top, env, settings: settings.passedOn, signal });
  return { folder, index, git, [Symbol.dispose]: dispose };
}

/** Files are kept byte for byte: no filter, no line ends, no encodings. This file beats every `.gitattributes`. */
const RAW_BYTES = "* -text -ident !eol !crlf !filter !working-tree-encoding\n";

function configOf({ objectFormat, refStorage }: RepositorySettings): string {
  const lines = ["[core]", "repositoryformatversion = 1", "bare = false", "[extensions]"];
  if (objectFormat !== "sha1") lines.push(`objectFormat = ${objectFormat}`);
  if (refStorage !== "files") lines.push(`refStorage = ${refStorage}`);
  return `${lines.join("\n")}\n`;
}

function excludesOf(commonDir: string): string | Buffer {
  const file = join(commonDir, "info", "exclude");
  return statSync(file, { throwIfNoEntry: false })?.isFile() === true ? readFileSync(file) : "";
}

function temporaryFolder({ root }: Repository): string {
  for (const folder of [tmpdir(), "/tmp", "/var/tmp"]) {
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) continue;
    const real = realpathSync.native(folder);
    if (!isInside(real, root)) return real;
  }
  throw new ToolwrightError(
    "TOOL_OPTION_INVALID",
    "Snapshots need a temporary folder outside the root, and every one lies inside it.",
    { hint: "Set TMPDIR to a folder outside the sandbox root.", effect: "none" },
  );
}
