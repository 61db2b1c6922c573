/** `toolwright init [folder]`: writes a project with a tool and a test, and prints the next commands. */
import { existsSync, lstatSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { type Command, Option } from "commander";
import { printedWord, quoted } from "../../terminal/terminal-text.ts";
import { CliError } from "../cli-error.ts";
import { commandName } from "../command-name.ts";
import { type Acting, acting, EXIT, examples, withOutputOptions } from "../command.ts";
import type { CommonOptions } from "../screen.ts";
import {
  checkersOf,
  packagesOf,
  projectFiles,
  SHARED_FILES,
  TEMPLATE_NAMES,
  type TemplateName,
  TEMPLATES,
} from "../templates.ts";

interface InitOptions extends CommonOptions {
  readonly template: TemplateName;
  readonly agents?: boolean;
}

export function addInitCommand(program: Command): void {
  const command = program
    .command("init")
    .summary("write a first project: a tool, a program and a test")
    .description(
      "Writes a project with a tool, a program that runs offline and a test. Existing files are not changed.",
    )
    .argument("[folder]", "the folder to write to", ".")
    .addOption(new Option("--template <name>", "what to write").choices(TEMPLATE_NAMES).default("workflow"))
    .option("--agents", "also write AGENTS.md: commands and rules for coding agents");
  const templates = TEMPLATE_NAMES.map((name) => `  ${name.padEnd(10)}${TEMPLATES[name].about}`);
  withOutputOptions(command)
    .addHelpText(
      "after",
      `\nTemplates:\n${templates.join("\n")}\n${examples(
        "toolwright init",
        "toolwright init orders --template agent --agents",
      )}\n\nWithout an installation: npm create toolwright orders -- --template agent`,
    )
    .action(
      acting(async ({ screen, options }: Acting<InitOptions>, folder: string) => {
        const { template, agents = false } = options;
        const files: Readonly<Record<string, string>> = projectFiles(template, { agents });
        const taken = Object.keys(files).filter((name) => isTaken(join(folder, name)));
        assertNoClash(folder, taken, options);
        const next = nextCommands(folder, template, taken.includes("package.json"));
        const written = Object.keys(files).filter((name) => !taken.includes(name));
        writeFiles(folder, written, files, options);
        const notes = taken.flatMap((name) => NOTES[name] ?? []);
        // Without our scripts in package.json, the program is started directly.
        const more = TEMPLATES[template].more.map(
          ([line, what]) => [line.replace(/^npm start/, next[1]?.[0] ?? ""), what] as const,
        );
        screen.printJson({
          folder,
          template,
          written,
          kept: taken,
          commands: next.map(([line]) => line),
          more: more.map(([line]) => line),
          notes,
        });
        screen.print(`Wrote ${written.join(", ")}.`);
        for (const note of notes) screen.print(note);
        screen.print("Next:");
        for (const line of explained(next)) screen.print(`  ${line}`);
        screen.print("Then:");
        for (const line of explained(more)) screen.print(`  ${line}`);
        return EXIT.finished;
      }),
    );
}

/** Also true for a link that leads nowhere: writing to it would create a file somewhere else. */
function isTaken(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    // The folder is a file: `writeFiles` says so.
    if ((error as NodeJS.ErrnoException).code === "ENOTDIR") return false;
    throw error;
  }
}

/** @throws CliError */
function assertNoClash(folder: string, taken: readonly string[], options: InitOptions): void {
  const clash = taken.find((name) => !(SHARED_FILES as readonly string[]).includes(name));
  if (clash === undefined) return;
  throw new CliError(
    "CLI_FILE_EXISTS",
    `${join(folder, clash)} already exists. Nothing was written.`,
    elsewhere(options),
  );
}

function elsewhere({ template, agents }: InitOptions): string {
  const words = ["init", "example", ...(template === "workflow" ? [] : ["--template", template])];
  return `Choose another folder: ${[commandName(), ...words, ...(agents === true ? ["--agents"] : [])].join(" ")}`;
}

/** `mkdirSync` with `recursive` never returns in a folder such as /proc, where nothing can be created. */
function createFolder(folder: string): void {
  if (existsSync(folder)) return;
  createFolder(dirname(resolve(folder)));
  mkdirSync(folder);
}

/** @throws CliError */
function writeFiles(
  folder: string,
  names: readonly string[],
  files: Readonly<Record<string, string>>,
  options: InitOptions,
): void {
  try {
    createFolder(folder);
    // A link that leads nowhere is not followed.
    for (const name of names) writeFileSync(join(folder, name), files[name] ?? "", { flag: "wx" });
  } catch (error) {
    const { code, message, syscall } = error as NodeJS.ErrnoException;
    const isFile = (code === "EEXIST" && syscall === "mkdir") || code === "ENOTDIR";
    throw new CliError(
      isFile ? "CLI_FILE_EXISTS" : "CLI_FILE_INVALID",
      isFile
        ? `${folder} is a file, or is inside one. Nothing was written.`
        : `${folder} cannot be written: ${message}.`,
      elsewhere(options),
    );
  }
}

/** The content that a kept file must have. The command to install covers package.json. */
const NOTES: Readonly<Record<string, string>> = {
  "package.json": "Kept package.json. The first command adds what the project needs.",
  "tsconfig.json":
    'Kept tsconfig.json. It needs "module": "nodenext", "types": ["node"], "allowImportingTsExtensions": true, "noEmit": true, ' +
    'and for workflows "jsx": "react-jsx" and "jsxImportSource": "toolwright".',
  "AGENTS.md": "Kept AGENTS.md. For Toolwright's commands and rules, run init --agents in an empty folder.",
};

type Commands = readonly (readonly [line: string, what: string])[];

/** Three commands that install, run and test the project. */
function nextCommands(folder: string, template: TemplateName, hasManifest: boolean): Commands {
  const { start, startSays } = TEMPLATES[template];
  const path = relative(process.cwd(), folder);
  const enter = path === "" ? "" : `cd ${quoted(path)} && `;
  const [run, test] = hasManifest
    ? [start.replace(/^toolwright /, "npx toolwright "), "npx toolwright test"]
    : ["npm start", "npm test"];
  return [
    [`${enter}${hasManifest ? completion(folder, template) : "npm install"}`, "installs the packages"],
    [run, startSays],
    [test, "runs the test"],
  ];
}

/** Adds what is missing to a package.json of the user. */
function completion(folder: string, template: TemplateName): string {
  const manifest = readManifestIn(folder);
  const present = { ...manifest.dependencies, ...manifest.devDependencies };
  const missing = (packages: Readonly<Record<string, string>>): string[] =>
    Object.entries(packages)
      .filter(([name]) => !Object.hasOwn(present, name))
      .map(([name, range]) => printedWord(`${name}@${range}`));
  const install = (
    [
      ["npm install", missing(packagesOf(template))],
      ["npm install --save-dev", missing(checkersOf(template))],
    ] as const
  ).flatMap(([start, words]) => (words.length === 0 ? [] : [[start, ...words].join(" ")]));
  return [
    ...(manifest.type === "module" ? [] : ["npm pkg set type=module"]),
    ...(install.length === 0 ? ["npm install"] : install),
  ].join(" && ");
}

interface UserManifest {
  readonly type?: string;
  readonly dependencies?: object;
  readonly devDependencies?: object;
}

/** @throws CliError */
function readManifestIn(folder: string): UserManifest {
  const path = join(folder, "package.json");
  try {
    const manifest = JSON.parse(readFileSync(path, "utf8")) as UserManifest | null;
    return manifest ?? {};
  } catch (error) {
    throw new CliError(
      "CLI_FILE_INVALID",
      `${path} is not JSON: ${error instanceof Error ? error.message : String(error)}`,
      "Nothing was written. Fix the file, or choose another folder.",
    );
  }
}

/** Commands with comments in one column. */
function explained(commands: Commands): string[] {
  const widest = Math.max(...commands.map(([line]) => (line.length <= 44 ? line.length : 0)));
  return commands.map(([line, what]) => `${line.padEnd(widest)}  # ${what}`);
}
