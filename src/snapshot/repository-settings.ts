/**
 * The few settings of a repository that a snapshot obeys: how the file system behaves, what is ignored, how objects
 * and refs are stored. It must never take over one that names a program.
 */
import type { Repository } from "./find-repository.ts";
import { createGit, splitNul } from "./run-git.ts";

export interface RepositorySettings {
  readonly isBare: boolean;
  /** `name=value`, to be passed on with `-c`. */
  readonly passedOn: readonly string[];
  readonly objectFormat: string;
  readonly refStorage: string;
}

export async function readSettings(
  { program, gitDir }: Repository,
  signal?: AbortSignal,
): Promise<RepositorySettings> {
  // The user's own config counts here, for the ignore file that it may name. `git config` runs no program.
  const { GIT_CONFIG_GLOBAL: _global, GIT_CONFIG_NOSYSTEM: _system, ...env } = program.env;
  const git = createGit({ program: { ...program, env }, cwd: gitDir, env: { GIT_DIR: gitDir }, signal });
  const names = [...PASSED_ON, "core.bare", "extensions.objectformat", "extensions.refstorage"];
  const pattern = `^(${names.map((name) => name.replace(".", "\\.")).join("|")})$`;
  const output = await git(["config", "--includes", "--null", "--get-regexp", pattern], { accept: [0, 1] });
  const values = new Map(splitNul(output).map(parseSetting));
  return {
    isBare: TRUE.has(values.get("core.bare")?.toLowerCase() ?? ""),
    passedOn: PASSED_ON.flatMap((name) => (values.has(name) ? [`${name}=${values.get(name)}`] : [])),
    objectFormat: wordOr(values.get("extensions.objectformat"), "sha1"),
    refStorage: wordOr(values.get("extensions.refstorage"), "files"),
  };
}

const PASSED_ON = [
  "core.filemode",
  "core.ignorecase",
  "core.precomposeunicode",
  "core.symlinks",
  "core.excludesfile",
  "core.sharedrepository",
];

const TRUE = new Set(["true", "yes", "on", "1"]);

/** A name without a value means true. */
function parseSetting(part: string): [name: string, value: string] {
  const end = part.indexOf("\n");
  if (end === -1) return [part, "true"];
  return [part.slice(0, end), Buffer.from(part.slice(end + 1), "latin1").toString("utf8")];
}

/** The value is written into a config file of ours, so it may be one plain word and nothing more. */
function wordOr(value: string | undefined, otherwise: string): string {
  return value !== undefined && /^[a-z0-9]+$/i.test(value) ? value.toLowerCase() : otherwise;
}
