/** Runs a user's program with generated commands in this process, and captures its output and exit code. */
import { Command, CommanderError } from "commander";
import { createRegistry, createRuntime, registerToolsAsCLI, type Runtime, type ToolLike } from "toolwright";

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  json(): unknown;
}

interface Options {
  readonly runtime?: Runtime;
  readonly prepare?: (program: Command) => void;
}

export async function run(
  tools: readonly ToolLike[],
  argv: readonly string[],
  options: Options = {},
): Promise<Ran> {
  let stdout = "";
  let stderr = "";
  const program = new Command("prog")
    .exitOverride()
    .configureOutput({ writeOut: (text) => (stdout += text), writeErr: (text) => (stderr += text) });
  options.prepare?.(program);
  await using own = options.runtime === undefined ? createRuntime({ store: ":memory:" }) : undefined;
  registerToolsAsCLI(program, { registry: createRegistry(tools), runtime: options.runtime ?? own });
  const before = process.exitCode;
  process.exitCode = undefined;
  let code = 0;
  try {
    await program.parseAsync(argv, { from: "user" });
    code = exitCode();
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    code = error.exitCode;
  } finally {
    process.exitCode = before;
  }
  return { code, stdout, stderr, json: () => JSON.parse(stdout) as unknown };
}

/** Reads the value that the action has set; the compiler assumes that it is unchanged. */
function exitCode(): number {
  return Number(process.exitCode ?? 0);
}
