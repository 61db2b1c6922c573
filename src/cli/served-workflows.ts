/** The workflows of the config, by name, for servers and workers. */
import type { WorkerWorkflowSource } from "../worker/options.ts";
import type { ConfigSettings } from "./load-config.ts";
import { loadWorkflow } from "./load-workflow.ts";
import { toStartOptions } from "./run-options.ts";

/** A file is loaded when it is first needed. */
export function servedWorkflows(config: ConfigSettings | undefined): Record<string, WorkerWorkflowSource> {
  const options = toStartOptions({ store: "" }, config);
  return Object.fromEntries(
    Object.entries(config?.workflows ?? {}).map(([name, file]) => [
      name,
      { file, load: () => loadWorkflow(file), options },
    ]),
  );
}
