/**
 * Reads what a snapshot needs from a repository: HEAD and the few settings that it obeys, about the file system,
 * ignored files, and the storage of objects and refs. It must never accept a setting that names a program. Everything
 * runs in the sandbox, because any file of the git folder may be a link by now.
 */
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { quoted } from "../terminal/terminal-text.ts";
import type { Repository } from "./find-repository.ts";
import { copyKeptIndex } from "./index-cache.ts";
import { createShell, gitCommand, type GitSetup, splitNul } from "./run-git.ts";

export interface RepositoryFacts {
  readonly isBare: boolean;
  /** The commit of HEAD, or `undefined` before the first one. */
  readonly head: string | undefined;
  /** `name=value`, to be passed with `-c`. */
  readonly passedOn: readonly string[];
  readonly objectFormat: string;
  readonly refStorage: string;
}

/**
 * Also copies files for later: the repository's ignore file into the git folder `own`, and the cached index.
 * @param setup With the repository's own git folder.
 */
export async function readRepository(
  setup: GitSetup,
  { commonDir, gitDir }: Repository,
  { own, index }: { readonly own: string; readonly index: string },
): Promise<RepositoryFacts> {
  mkdirSync(join(own, "info"));
  const [settings, head] = ["settings", "head"].map((name) => join(own, name)) as [string, string];
  const excludes = quoted(join(commonDir, "info", "exclude"));
  await createShell(setup)(
    "git",
    [
      `${gitCommand(setup, ["config", "--includes", "--null", "--get-regexp", PATTERN])} >${quoted(settings)}`,
      "[ $? -le 1 ] || exit 128",
      `${gitCommand(setup, ["rev-parse", "--verify", "--quiet", "HEAD"])} >${quoted(head)}`,
      "[ $? -le 1 ] || exit 128",
      `if [ -f ${excludes} ]; then cat ${excludes} >${quoted(join(own, "info", "exclude"))}; fi`,
      copyKeptIndex(gitDir, index),
    ].join("\n"),
  );
  const values = new Map(splitNul(readFileSync(settings)).map(parseSetting));
  return {
    isBare: TRUE.has(values.get("core.bare")?.toLowerCase() ?? ""),
    head: /^[0-9a-f]{40,64}$/.exec(readFileSync(head, "utf8").trim())?.[0],
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

const PATTERN = `^(${[...PASSED_ON, "core.bare", "extensions.objectformat", "extensions.refstorage"]
  .map((name) => name.replace(".", String.raw`\.`))
  .join("|")})$`;

const TRUE = new Set(["true", "yes", "on", "1"]);

/** A name without a value means true. */
function parseSetting(part: string): [name: string, value: string] {
  const end = part.indexOf("\n");
  if (end === -1) return [part, "true"];
  return [part.slice(0, end), Buffer.from(part.slice(end + 1), "latin1").toString("utf8")];
}

/** The value is written into our own config file, so only a single plain word is accepted. */
function wordOr(value: string | undefined, otherwise: string): string {
  return value !== undefined && /^[a-z0-9]+$/i.test(value) ? value.toLowerCase() : otherwise;
}
