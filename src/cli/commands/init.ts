/** `toolwright init [folder]`: writes a workflow, a tool and a test that run, and says what to try. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import type { Command } from "commander";
import { CliError } from "../cli-error.ts";
import { type Acting, acting, EXIT, examples, withOutputOptions } from "../command.ts";
import { quoted } from "../../util/terminal-text.ts";
import { commandName } from "../command-name.ts";
import { readManifest } from "../../load/package-root.ts";
import type { CommonOptions } from "../screen.ts";

const TEMPLATE = new URL("../../../templates/init/", import.meta.url);

export function addInitCommand(program: Command): void {
  const command = program
    .command("init")
    .summary("write a first workflow, a tool and a test")
    .description(
      "Writes a workflow, a tool and a test that run. Files that are there already are left alone.",
    )
    .argument("[folder]", "where to write them", ".");
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
            `${join(folder, clash)} is there already; nothing was written.`,
            `Choose another folder: ${commandName()} init <folder>`,
          );
        }
        const written = Object.keys(files).filter((name) => !taken.includes(name));
        mkdirSync(folder, { recursive: true });
        for (const name of written) writeFileSync(join(folder, name), files[name] ?? "");
        const commands = commandsToTry(folder);
        screen.tell({ folder, written, commands: commands.map(([line]) => line) });
        screen.say(`Wrote ${written.join(", ")}.`);
        screen.say("Try:");
        const width = Math.max(...commands.map(([line]) => line.length));
        for (const [line, what] of commands) screen.say(`  ${line.padEnd(width)}  # ${what}`);
        return EXIT.finished;
      }),
    );
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
    scripts: { test: "toolwright test" },
    dependencies: { toolwright: `^${version}`, zod: "^4.1.0" },
  };
  // For the editor; the command itself needs neither of them.
  const tsconfig = {
    compilerOptions: {
      target: "es2023",
      module: "nodenext",
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
  const enter = relative(process.cwd(), folder) === "" ? [] : [[`cd ${quoted(folder)}`, "go there"] as const];
  // The commands are typed there, and may name this program by its path.
  process.chdir(folder);
  const name = commandName();
  return [
    ...enter,
    [`${name} up workflow.tsx --input '{"item":"apple","quantity":2}'`, "orders at once"],
    [
      `${name} up workflow.tsx --input '{"item":"pear","quantity":50}' --run-id pears`,
      "waits for a person (exit 3)",
    ],
    [`${name} why pears`, "says what for, and what to type"],
    [`${name} approvals`, "lists what waits"],
    [`${name} approve pears`, "agrees to what this run waits for"],
    [`${name} resume pears`, "goes on where it was"],
    [`${name} ps`, "lists the runs"],
    [`${name} test`, "runs workflow.test.ts"],
  ];
}
