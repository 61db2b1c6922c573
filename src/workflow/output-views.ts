/** Each output of a workflow as a SQL view, with the fields of its schema. */
import { z } from "zod";
import { createOutputView, WHOLE_VALUE } from "../store/tables/output-views.ts";
import type { Store } from "../store/store.ts";
import type { Schemas } from "./output-token.ts";

/** Makes what is missing. Answers what there is to say of outputs whose key is the name of something else in the store. */
export async function createOutputViews(store: Store, workflow: string, schemas: Schemas): Promise<string[]> {
  const notes: string[] = [];
  for (const [key, schema] of Object.entries(schemas)) {
    if (key === "input") continue;
    const name = await store.transaction(
      () => createOutputView(store.dialect, workflow, key, fieldsOf(schema)),
      "normal",
    );
    if (name === key) continue;
    const where = name === undefined ? "in no view" : `in the view "${name}"`;
    notes.push(`the outputs under "${key}" are ${where}: the store has something else of that name.`);
  }
  return notes;
}

/** The fields of an object, or one column for anything else. Names that the view has already are left to it. */
function fieldsOf(schema: z.ZodType): string[] {
  const shape = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
  const own = shape.filter((field) => !["run_id", "node_id", "iteration"].includes(field.toLowerCase()));
  return own.length === 0 ? [WHOLE_VALUE] : own;
}
