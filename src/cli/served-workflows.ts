/** The workflows of the config, by name, for servers and workers. */
import { mayHaveChanged } from "../load/code-paths.ts";
import type { WorkerWorkflowSource } from "../worker/options.ts";
import type { WorkflowDefinition } from "../workflow/create-workflows.ts";
import { CliError } from "./cli-error.ts";
import { shown } from "./import-file.ts";
import type { ConfigSettings } from "./load-config.ts";
import { loadWorkflow } from "./load-workflow.ts";
import { toStartOptions } from "./run-options.ts";

/**
 * Files are loaded when a run is first requested, so that a broken one does not prevent the start. All are loaded then:
 * the tools of that run could change the other files and their imports, and this process would run the changed code.
 */
export function servedWorkflows(config: ConfigSettings | undefined): Record<string, WorkerWorkflowSource> {
  const options = toStartOptions({ store: "" }, config);
  const files = Object.entries(config?.workflows ?? {});
  const loaded = new Map<string, WorkflowDefinition>();
  const loadAll = async (): Promise<void> => {
    await Promise.allSettled(files.map(async ([, file]) => loaded.set(file, await loadWorkflow(file))));
  };
  const load = async (file: string): Promise<WorkflowDefinition> => {
    // A file that could not be loaded may be fixed, as long as no tool can have done it.
    if (!loaded.has(file) && !mayHaveChanged()) await loadAll();
    const workflow = loaded.get(file);
    if (workflow !== undefined) return workflow;
    if (!mayHaveChanged()) return loadWorkflow(file); // For its error.
    throw new CliError(
      "CLI_FILE_INVALID",
      `${shown(file)} could not be loaded before the first tool ran, and a tool may have changed it since. Check the file, then restart the process.`,
      "Restart the process.",
    );
  };
  return Object.fromEntries(files.map(([name, file]) => [name, { file, load: () => load(file), options }]));
}
