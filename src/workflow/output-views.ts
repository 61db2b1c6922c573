/** The SQL views of a workflow's outputs: one for each key, with a column for each field. */
import { z } from "zod";
import type { Store } from "../store/store.ts";
import { createOutputView, WHOLE_VALUE } from "../store/tables/output-views.ts";
import { type ClaimedRun, orGiveBack } from "./drive-run.ts";
import type { Schemas } from "./output-token.ts";

/**
 * Creates the missing views before a claimed run is driven.
 * @param known workflows whose views exist; this one is added
 */
export async function ensureOutputViews(
  claimed: Pick<ClaimedRun, "host" | "runId" | "epoch">,
  workflow: string,
  schemas: Schemas,
  known?: Set<string>,
): Promise<void> {
  if (known?.has(workflow) === true) return;
  const { host } = claimed;
  const warnings = await orGiveBack(claimed, createOutputViews(host.store, workflow, schemas));
  for (const warning of warnings) host.warnOnce(warning, warning);
  known?.add(workflow);
}

/** Returns a warning for each output whose key is taken by another object. */
async function createOutputViews(store: Store, workflow: string, schemas: Schemas): Promise<string[]> {
  const warnings: string[] = [];
  for (const [key, schema] of Object.entries(schemas)) {
    if (key === "input") continue;
    const name = await store.transaction(
      () => createOutputView(store.dialect, workflow, key, fieldsOf(schema)),
      "normal",
    );
    if (name === key) continue;
    const location = name === undefined ? "have no view" : `are in the view "${name}"`;
    warnings.push(`the outputs "${key}" ${location}: the store has another object with that name.`);
  }
  return warnings;
}

/** One column per field of an object, or one for any other value. Fields named like a built-in column are left out. */
function fieldsOf(schema: z.ZodType): string[] {
  const shape = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
  const own = shape.filter((field) => !["run_id", "node_id", "iteration"].includes(field.toLowerCase()));
  return own.length === 0 ? [WHOLE_VALUE] : own;
}
