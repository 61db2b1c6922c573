/** `toolwright init [folder]`: writes an example workflow with a tool and a test, and prints what to try. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import type { Command } from "commander";
import { CliError } from "../cli-error.ts";
import { type Acting, acting, EXIT, examples, withOutputOptions } from "../command.ts";
import { quoted } from "../../terminal/terminal-text.ts";
import { commandName } from "../command-name.ts";
import { readManifest } from "../../load/package-root.ts";
import type { CommonOptions } from "../screen.ts";

const TEMPLATE = new URL("../../../templates/init/", import.meta.url);

export function addInitCommand(program: Command): void {
  const command = program
    .command("init")
    .summary("write an example workflow, a tool and a test")
    .description("Writes an example workflow with a tool and a test. Existing files are not changed.")
    .argument("[folder]", "the folder to write to", ".");
  withOutputOptions(command)
    .addHelpText("after", examples("toolwright init", "toolwright init orders"))
    .action(
      acting(async ({ screen }: Acting<CommonOptions>, folder: string) => {
        const files = templateFiles();
        const taken = Object.keys(files).filter((name) => existsSync(join(folder, name)));
        const clash = taken.find((name) => name.startsWith("workflow") || name.startsWith("place-order"));
        if (clash !== undefined) {
          throw new CliError(
            "CLI_FILE_EXISTS",
            `${join(folder, clash)} already exists. Nothing was written.`,
            `Choose another folder: ${commandName()} init example`,
          );
        }
        const written = Object.keys(files).filter((name) => !taken.includes(name));
        mkdirSync(folder, { recursive: true });
        for (const name of written) writeFileSync(join(folder, name), files[name] ?? "");
        const enter = relative(process.cwd(), folder) === "" ? undefined : `cd ${quoted(folder)}`;
        const commands = commandsToTry(folder);
        const kept = taken.filter((name) => name === "package.json" || name === "tsconfig.json");
        screen.printJson({
          folder,
          written,
          install: INSTALL,
          commands: [...(enter === undefined ? [] : [enter]), ...commands.map(([line]) => line)],
          notes: kept.map(noteOn),
        });
        screen.print(`Wrote ${written.join(", ")}.`);
        for (const name of kept) screen.print(noteOn(name));
        screen.print("Install the packages:");
        if (enter !== undefined) screen.print(`  ${enter}`);
        screen.print(`  ${INSTALL}`);
        screen.print("Try:");
        for (const [line, what] of commands) screen.print(`  ${line}  # ${what}`);
        return EXIT.finished;
      }),
    );
}

const INSTALL = "npm install";

/** What a file that was left as it is has to have. */
function noteOn(name: string): string {
  return name === "package.json"
    ? 'Kept package.json. It needs "type": "module": npm pkg set type=module && npm install toolwright zod'
    : 'Kept tsconfig.json. It needs "jsx": "react-jsx", "jsxImportSource": "toolwright" and "types": ["node"].';
}

function templateFiles(): Readonly<Record<string, string>> {
  const { version } = readManifest();
  const templates = readdirSync(TEMPLATE).map((name) => [
    name,
    readFileSync(new URL(name, TEMPLATE), "utf8"),
  ]);
  const manifest = {
    type: "module",
    private: true,
    scripts: { test: "toolwright test", check: "tsc" },
    dependencies: { toolwright: `^${version}`, zod: "^4.1.0" },
    devDependencies: { "@types/node": "^24.0.0", typescript: "^5.9.0 || ^7.0.0" },
  };
  // For the editor and for `npm run check`; the command itself needs neither of them.
  const tsconfig = {
    compilerOptions: {
      target: "es2023",
      lib: ["es2023", "esnext.disposable"],
      module: "nodenext",
      // TypeScript 7 loads no types by itself.
      types: ["node"],
      jsx: "react-jsx",
      jsxImportSource: "toolwright",
      strict: true,
      noEmit: true,
      allowImportingTsExtensions: true,
      skipLibCheck: true,
    },
  };
  return {
    ...Object.fromEntries(templates),
    "package.json": `${JSON.stringify(manifest, null, 2)}\n`,
    "tsconfig.json": `${JSON.stringify(tsconfig, null, 2)}\n`,
    ".gitignore": "node_modules/\ntoolwright.db*\norders.txt\n",
  };
}

function commandsToTry(folder: string): (readonly [string, string])[] {
  // The commands are typed there, and may name this program by its path.
  process.chdir(folder);
  const name = commandName();
  return [
    [`${name} up workflow.tsx --input '{"item":"apple","quantity":2}'`, "orders at once"],
    [
      `${name} up workflow.tsx --input '{"item":"pear","quantity":50}' --run-id pears`,
      "waits for approval (exit code 3)",
    ],
    [`${name} why pears`, "says what it waits for, and what to type"],
    [`${name} approvals`, "lists what waits for approval"],
    [`${name} approve pears --resume`, "approves the order and resumes the run"],
    [`${name} inspect pears`, "shows the run, its tasks and outputs"],
    [`${name} ps`, "lists the runs"],
    [`${name} test`, "runs workflow.test.ts"],
  ];
}
