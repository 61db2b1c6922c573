/** `bash`: runs a command with arguments in the sandbox. It uses no shell unless the command is one. */
import { z } from "zod";
import { aList, aText, either, listOf, Problem } from "../definition/option-checks.ts";
import { checkAgainst, optionTable, type OptionTable } from "../definition/option-table.ts";
import { ToolwrightError } from "../errors.ts";
import { lazyModule, loadLazyModules } from "../util/lazy.ts";
import { defineBuiltInTool } from "../tool/define-tool.ts";

const parts = lazyModule(async () => ({
  ...(await import("../sandbox/process/run-command.ts")),
  ...(await import("./settings.ts")),
}));

export interface BashOptions {
  /** A folder inside the root. Default: the root. */
  readonly cwd?: string | undefined;
}

export async function bashTool(
  cmd: string,
  args: readonly string[] = [],
  options: BashOptions = {},
): Promise<string> {
  const { currentSettings, hiddenFiles, reportIsolation, runCommand } = parts.value ?? (await parts.get());
  await loadLazyModules();
  checkInput(cmd, args, options);
  const settings = currentSettings();
  try {
    const { output, tier } = await runCommand({
      ...settings,
      cmd,
      args,
      cwd: options.cwd,
      hidden: hiddenFiles(settings),
    });
    reportIsolation(tier);
    return output;
  } catch (error) {
    if (ToolwrightError.is(error) && typeof error.details["tier"] === "string")
      reportIsolation(error.details["tier"]);
    throw error;
  }
}

export const BASH_OPTIONS: OptionTable = optionTable<BashOptions>(
  "bashTool",
  { cwd: aText },
  { example: '{ cwd: "src" }' },
);

/** The schema of the tool checks the input of models. Programs call this function directly, so it checks again. */
function checkInput(cmd: unknown, args: unknown, options: unknown): void {
  try {
    aText(cmd, "cmd");
    either('a list of strings such as ["-l", "src"]', aList)(args, "args");
    listOf(aText)(args, "args");
    checkAgainst(BASH_OPTIONS, options);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    throw new ToolwrightError("TOOL_INPUT_INVALID", `bashTool: ${error.sentence}`, {
      hint: 'Call it as bashTool("ls", ["-l"], { cwd: "src" }).',
      effect: "none",
    });
  }
}

export const bash = defineBuiltInTool({
  name: "bash",
  usesFiles: true,
  description:
    'Run an executable with arguments. No shell parsing: for pipes or redirects run a shell, e.g. { cmd: "sh", args: ["-lc", "…"] }.',
  schema: () =>
    z.object({
      cmd: z.string().describe("Executable name or path"),
      args: z.array(z.string()).optional().describe("Arguments, one per entry"),
      opts: z.object({ cwd: z.string().optional().describe("Working directory inside the root") }).optional(),
    }),
  sideEffect: true,
  idempotent: false,
  replay: "run",
  // Only the model can check what an interrupted command did.
  onUnknown: "tell",
  execute: ({ cmd, args, opts }) => bashTool(cmd, args, opts),
});
