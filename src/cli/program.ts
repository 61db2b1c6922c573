/** The command line: its commands, and the tools of the project as commands. */
import { Command } from "commander";
import { addApprovalsCommand } from "./commands/approvals.ts";
import { addApproveCommand } from "./commands/approve.ts";
import { addCapabilitiesCommand } from "./commands/capabilities.ts";
import { addCallsCommand } from "./commands/calls.ts";
import { addCancelCommand } from "./commands/cancel.ts";
import { addCompletionCommand } from "./commands/completion.ts";
import { addDenyCommand } from "./commands/deny.ts";
import { addDoctorCommand } from "./commands/doctor.ts";
import { addEnqueueCommand } from "./commands/enqueue.ts";
import { addForkCommand } from "./commands/fork.ts";
import { addGcCommand } from "./commands/gc.ts";
import { addInitCommand } from "./commands/init.ts";
import { addInspectCommand } from "./commands/inspect.ts";
import { addMcpCommand } from "./commands/mcp.ts";
import { addPsCommand } from "./commands/ps.ts";
import { addRecordCommand } from "./commands/record.ts";
import { addReplayCommand } from "./commands/replay.ts";
import { addResumeCommand } from "./commands/resume.ts";
import { addRevertCommand } from "./commands/revert.ts";
import { addScheduleCommand } from "./commands/schedule.ts";
import { addServeCommand } from "./commands/serve.ts";
import { addSignalCommand } from "./commands/signal.ts";
import { addTestCommand } from "./commands/test.ts";
import { addToolsCommand } from "./commands/tools.ts";
import { addUpCommand } from "./commands/up.ts";
import { addWhyCommand } from "./commands/why.ts";
import { addWorkerCommand } from "./commands/worker.ts";
import { addWorkersCommand } from "./commands/workers.ts";
import { readManifest } from "../load/package-root.ts";
import { printedWord } from "../terminal/terminal-text.ts";
import { toTerminalText, toTerminalName } from "../terminal/terminal-text.ts";
import { answerUsage, wantsJson } from "./answer-usage.ts";
import { CliError } from "./cli-error.ts";
import { commandName } from "./command-name.ts";
import { examples, reportUncaught, EXIT, exitWhenWritten } from "./command.ts";
import { refuseAmbiguousOptions } from "./parse-options.ts";
import { createScreen } from "./screen.ts";
import { meantCommand, similarCommand } from "./similar-command.ts";

export async function runProgram(argv: readonly string[]): Promise<void> {
  hideSqliteWarning();
  // The reader of stdout may close it early, as `head` does. The run continues.
  process.stdout.on("error", () => undefined);
  const program = createProgram(argv);
  const word = unknownWord(program, argv);
  if (word === undefined) {
    await program.parseAsync(argv);
    return;
  }
  // A word of another program, such as "reject", is not a typo of a command.
  const meant = meantCommand(word) === undefined ? similarCommand(word, namesOf(program)) : undefined;
  if (meant !== undefined && word !== TOOL_WORD) {
    refuseMisspelt(word, meant, wantsJson(argv));
    return;
  }
  await addTools(program, wantsJson(argv));
  if (process.exitCode !== undefined) return;
  // Commander prints the general help for `help <unknown>` and `<unknown> --help`. Report an error instead.
  if (asksForHelp(argv) && word !== TOOL_WORD && !namesOf(program).includes(word))
    program.error(`unknown command ${toTerminalName(word)}`, { code: "commander.unknownCommand" });
  await program.parseAsync(withoutToolWord(program, argv));
  exitWhenWritten();
}

/**
 * The first word, if it is none of the built-in commands: it may be a tool of the project. Only then is the config loaded,
 * because the config is a program. `undefined` if the config is not needed.
 */
function unknownWord(program: Command, argv: readonly string[]): string | undefined {
  const [first = "-", second = "-"] = argv.slice(2);
  const word = first === "help" ? second : first;
  return word.startsWith("-") || namesOf(program).includes(word) ? undefined : word;
}

function asksForHelp(argv: readonly string[]): boolean {
  return argv[2] === "help" || argv.includes("--help") || argv.includes("-h");
}

function namesOf(program: Command): string[] {
  return [...program.commands.map((command) => command.name()), "help"];
}

/** `toolwright tool <name>` always means a tool of the project, even if its name resembles a command. */
const TOOL_WORD = "tool";

function withoutToolWord(program: Command, argv: readonly string[]): readonly string[] {
  const isOwn = argv[2] !== TOOL_WORD || namesOf(program).includes(TOOL_WORD);
  return isOwn ? argv : argv.toSpliced(2, 1);
}

/** A typo must not run the config of the folder. */
function refuseMisspelt(word: string, meant: string, isJson: boolean): void {
  createScreen({ json: isJson }).printError(
    new CliError(
      "CLI_USAGE",
      `There is no command ${toTerminalName(word)}. Did you mean ${meant}?`,
      `If it is a tool of this project, run: ${commandName()} ${TOOL_WORD} ${printedWord(word)}`,
    ),
  );
  process.exitCode = EXIT.failed;
}

async function addTools(program: Command, isJson: boolean): Promise<void> {
  const { addProjectTools } = await import("./project-tools.ts");
  const { reserveStdout } = await import("../terminal/reserve-stdout.ts");
  const screen = createScreen({ json: isJson });
  reportUncaught(screen);
  const restore = isJson ? reserveStdout() : () => undefined;
  try {
    await addProjectTools(program);
  } catch (error) {
    restore();
    screen.printError(error);
    process.exitCode = EXIT.failed;
  } finally {
    restore();
  }
}

/** The program without the tools of a project. */
export function createProgram(argv: readonly string[]): Command {
  const program = new Command("toolwright")
    .description("Runs workflows whose tool calls are logged, and resumes them after a crash.")
    .version(readManifest().version)
    // Lets a tool have a field named "version".
    .enablePositionalOptions()
    // Commander repeats the arguments in its errors, so escape them. Commands of tools have marked the lines of theirs.
    .configureOutput({ outputError: (text, write) => write(toTerminalText(text)) })
    .addHelpText(
      "after",
      `${examples(
        "toolwright init   # write a first project",
        `toolwright up workflow.tsx --input '{"item":"pear","quantity":50}' --run-id order-17`,
        "toolwright why order-17   # why it waits or failed, what next",
        "toolwright approve order-17 --resume   # approve it, and resume the run",
        "toolwright ps   # list runs and their status",
        "toolwright tools   # list the tools of this project",
      )}

Exit codes: 0 finished, 1 failed, stopped or a usage error, 3 waiting for
approval, a time or a signal. Tools in toolwright.config.ts are commands too,
with exit codes of their own (2 for a usage error).`,
    );
  for (const add of [
    addUpCommand,
    addResumeCommand,
    addPsCommand,
    addInspectCommand,
    addCallsCommand,
    addWhyCommand,
    addApprovalsCommand,
    addApproveCommand,
    addDenyCommand,
    addCancelCommand,
    addRecordCommand,
    addReplayCommand,
    addForkCommand,
    addRevertCommand,
    addSignalCommand,
    addScheduleCommand,
    addCapabilitiesCommand,
    addGcCommand,
    addWorkerCommand,
    addEnqueueCommand,
    addWorkersCommand,
    addServeCommand,
    addMcpCommand,
    addToolsCommand,
    addInitCommand,
    addTestCommand,
    addDoctorCommand,
    addCompletionCommand,
  ])
    add(program);
  const commands = program.commands.flatMap((command) => [command, ...command.commands]);
  for (const command of commands) refuseAmbiguousOptions(command);
  for (const command of [program, ...commands]) answerUsage(command, argv);
  return program;
}

/** Node warns that its SQLite API may change. That concerns this package, not its users. */
function hideSqliteWarning(): void {
  const listeners = process.listeners("warning");
  process.removeAllListeners("warning");
  process.on("warning", (warning) => {
    if (warning.name === "ExperimentalWarning" && /SQLite/.test(warning.message)) return;
    for (const listener of listeners) listener(warning);
  });
}
