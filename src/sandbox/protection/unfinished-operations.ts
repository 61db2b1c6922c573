/**
 * Handles the programs that git would run when the user continues an unfinished rebase, cherry-pick or revert: `exec`
 * lines of its list, and a merge strategy, which names a program. The same for options of `git am`, which name files, and
 * the refs that a rebase updates, which git takes for files of its folder. Commands of an agent may continue such an
 * operation, and so write these files. What they added must not be left for the user.
 */
import { closeSync, constants, lstatSync, unlinkSync } from "node:fs";
import { readText, usePlainFile } from "../read-plain-file.ts";
import { replacePlain } from "./defuse-repositories.ts";
import { formatGitConfig, parseGitConfig, type ConfigEntry } from "./git-config.ts";
import { isRefPath } from "./protected-names.ts";
import { openFolderBelow } from "./protection-plan.ts";

export interface PlantedProgram {
  /** Relative to the git folder. */
  readonly file: string;
  readonly what: string;
}

interface OperationFile {
  readonly folder: string;
  readonly name: string;
  /** The parts of the text that run a program. */
  programs(text: string): string[];
  /** The text without these parts. */
  without(text: string, programs: readonly string[]): string;
}

const FILES: readonly OperationFile[] = [
  {
    folder: "rebase-merge",
    name: "git-rebase-todo",
    programs: (text) => text.split("\n").filter((line) => /^\s*(?:x|exec)\s/.test(line)),
    without: (text, programs) =>
      text
        .split("\n")
        .map((line) => (programs.includes(line) ? `# ${line}` : line))
        .join("\n"),
  },
  {
    folder: "rebase-merge",
    name: "strategy",
    programs: (text) => (isOwnStrategy(text.trimEnd()) ? [] : [text]),
    without: () => "",
  },
  {
    folder: "rebase-merge",
    name: "update-refs",
    // Three lines each: a ref, and the ids before and after.
    programs: (text) => refsToUpdate(text).flatMap(([ref]) => (isRefPath(ref.split("/")) ? [] : [ref])),
    without: (text, programs) =>
      refsToUpdate(text)
        .filter(([ref]) => !programs.includes(ref))
        .map((lines) => `${lines.join("\n")}\n`)
        .join(""),
  },
  {
    folder: "sequencer",
    name: "opts",
    programs: (text) =>
      parseGitConfig(text)
        .filter(namesProgram)
        .map(({ value = "" }) => value),
    without: (text) => formatGitConfig(parseGitConfig(text).filter((entry) => !namesProgram(entry))),
  },
  {
    folder: "rebase-apply",
    name: "apply-opt",
    programs: (text) => (/^(?:\s*'[^']*')*\s*$/.test(text) ? quotedWords(text).filter(isForeign) : [text]),
    without: (text, programs) =>
      quotedWords(text)
        .filter((word) => !programs.includes(word) && !isForeign(word))
        .map((word) => ` '${word}'`)
        .join(""),
  },
];

const quotedWords = (text: string): string[] => [...text.matchAll(/'([^']*)'/g)].map(([, word = ""]) => word);
/** Whether `git am` does not take this option itself. Others of `git apply` write any file of the machine. */
const isForeign = (word: string): boolean =>
  !/^(?:-[Cp]\d+|--(?:whitespace|directory|exclude|include)=.*|--reject|--ignore-(?:space-change|whitespace))$/s.test(
    word,
  );

const refsToUpdate = (text: string): (readonly [ref: string, before: string, after: string])[] => {
  const lines = text.split("\n").map((line) => line.replace(/\r$/, ""));
  return lines.flatMap((ref, at) => {
    const [before, after] = [lines[at + 1], lines[at + 2]];
    return at % 3 > 0 || before === undefined || after === undefined ? [] : [[ref, before, after] as const];
  });
};

/** Git runs `git-merge-<strategy>`, which may be a path. */
const isOwnStrategy = (name: string): boolean =>
  ["", "ort", "recursive", "resolve", "octopus", "ours", "subtree"].includes(name);
const namesProgram = ({ name, value = "" }: ConfigEntry): boolean =>
  name === "options.strategy" && !isOwnStrategy(value);

export function programsOfOperations(gitFolder: string): PlantedProgram[] {
  const links = [...new Set(FILES.map(({ folder }) => folder))].filter((folder) =>
    isLink(`${gitFolder}/${folder}`),
  );
  return [
    ...links.map((file) => ({ file, what: A_LINK })),
    ...FILES.flatMap((each) => {
      const file = `${each.folder}/${each.name}`;
      const { text, problem } = readOperationFile(`${gitFolder}/${file}`);
      const found = problem === undefined ? each.programs(text) : [problem];
      return found.map((what) => ({ file, what }));
    }),
  ];
}

/** Turns off the programs that are not in `before`, and returns them. */
export function removePrograms(
  root: string,
  gitFolder: string,
  before: readonly PlantedProgram[],
): PlantedProgram[] {
  const isAdded = ({ file, what }: PlantedProgram): boolean =>
    !before.some((known) => known.file === file && known.what === what);
  const added = programsOfOperations(gitFolder).filter(isAdded);
  for (const link of added.filter(({ file }) => !file.includes("/")))
    within(root, gitFolder, (base) => unlinkQuietly(`${base}/${link.file}`));
  for (const each of FILES) {
    if (!added.some(({ file }) => file === `${each.folder}/${each.name}`)) continue;
    within(root, `${gitFolder}/${each.folder}`, (base) => {
      const { text, problem } = readOperationFile(`${base}/${each.name}`);
      if (problem !== undefined) return unlinkQuietly(`${base}/${each.name}`);
      const file = `${each.folder}/${each.name}`;
      const programs = each.programs(text).filter((what) => isAdded({ file, what }));
      replacePlain(base, each.name, each.without(text, programs));
    });
  }
  return added;
}

const A_LINK = "a link";
const MAX_BYTES = 4_194_304;

/** Git follows a link, and reads a file of any size. */
function readOperationFile(path: string): { readonly text: string; readonly problem?: string } {
  try {
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW;
    const read = usePlainFile(path, flags, (descriptor, { size }) =>
      size > MAX_BYTES ? { text: "", problem: "too large" } : { text: readText(descriptor) },
    );
    return read ?? { text: "", problem: "not a file" };
  } catch {
    return isLink(path) ? { text: "", problem: A_LINK } : { text: "" }; // There is no such operation.
  }
}

function within(root: string, path: string, use: (base: string) => void): void {
  const folder = openFolderBelow(root, path);
  if (folder === undefined) return;
  try {
    use(`/proc/self/fd/${folder}`);
  } finally {
    closeSync(folder);
  }
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  } catch {
    return false; // A parent is not a folder.
  }
}

function unlinkQuietly(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Already gone.
  }
}
