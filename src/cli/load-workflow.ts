/** Loads the workflow that a file exports by default. */
import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { nearestName } from "../definition/nearest-name.ts";
import { isWorkflowDefinition, type WorkflowDefinition } from "../workflow/create-workflows.ts";
import { CliError } from "./cli-error.ts";
import { commandName } from "./command-name.ts";
import { importFile, shown } from "./import-file.ts";

const EXTENSIONS = /\.(?:[mc]?[jt]s|[jt]sx)$/;

/** @param workflows the workflows of the config, by name; a name wins over a file */
export function findWorkflowFile(
  given: string,
  workflows: Readonly<Record<string, string>> | undefined,
): string {
  const named = workflows !== undefined && Object.hasOwn(workflows, given) ? workflows[given] : undefined;
  if (named !== undefined) return named;
  const names = Object.keys(workflows ?? {});
  // A word without a file extension cannot be a workflow file, so it must be a name.
  if (EXTENSIONS.test(given) || existsSync(given) || names.length === 0) return given;
  const near = nearestName(given, names);
  throw new CliError(
    "CLI_FILE_MISSING",
    `There is no workflow named "${given}" in toolwright.config.${near === undefined ? "" : ` Did you mean "${near}"?`}`,
    `The config has: ${names.join(", ")}. Or pass the file of a workflow.`,
  );
}

export async function loadWorkflow(path: string): Promise<WorkflowDefinition> {
  const file = resolve(path);
  const stat = statSync(file, { throwIfNoEntry: false });
  if (stat?.isFile() !== true) {
    throw new CliError(
      "CLI_FILE_MISSING",
      stat === undefined ? `There is no file ${file}.` : `${file} is not a file.`,
      `Pass the file of a workflow, such as workflow.tsx. Create an example: ${commandName()} init example`,
    );
  }
  if (!EXTENSIONS.test(file)) {
    throw new CliError(
      "CLI_FILE_INVALID",
      `${path} is not a workflow file.`,
      "Its name must end in .ts, .tsx, .js, .jsx or .mjs.",
    );
  }
  const exported = await importFile(file);
  if (isWorkflowDefinition(exported["default"])) return exported["default"];
  const found = Object.keys(exported).find((name) => isWorkflowDefinition(exported[name]));
  throw new CliError(
    "CLI_NO_WORKFLOW",
    `${shown(file)} has no default export that is a workflow.`,
    found === undefined
      ? "Write: export default workflow((ctx) => <Workflow name=…>…</Workflow>);"
      : `It exports the workflow "${found}". Write: export default ${found};`,
  );
}
