/**
 * `manage_todo_list`: the plan of an agent. Every output, even a refusal, has the current version and list. A resumed run
 * restores its plan from these outputs.
 */
import { z } from "zod";
import { createToolSpec, type ToolSpec } from "../../definition/tool-spec.ts";
import type { Plan, PlanStep } from "../../invoke/events.ts";
import { withoutUndefined } from "../../util/without-undefined.ts";
import { TODO_LIST } from "./tool-names.ts";

const STATUSES = ["not-started", "in-progress", "completed", "blocked"] as const;

const ITEM = z.looseObject({
  id: z.union([z.int(), z.string().min(1)]).describe("The same in every later update."),
  title: z.string().min(1).optional().describe("What is to be done. Needed when the plan is written."),
  status: z.enum(STATUSES).optional().describe("At most one item is in-progress. Default: not-started."),
});

const INPUT = z.object({
  operation: z
    .enum(["write", "update", "read"])
    .describe("write: the whole plan anew. update: change items by id. read: look."),
  todoList: z.array(ITEM).optional().describe("For write all items; for update those that change."),
  expectedVersion: z
    .int()
    .min(0)
    .optional()
    .describe("The version that you know. Refused when the plan has changed since."),
});

type Item = z.output<typeof ITEM>;

export const NO_PLAN: Plan = { version: 0, todoList: [] };

/** The plan that the calls of one agent share. */
export class PlanBook {
  #plan: Plan;

  constructor(plan: Plan) {
    this.#plan = plan;
  }

  get plan(): Plan {
    return this.#plan;
  }

  /** Applies the plan of an output, even a replayed one. The highest version wins, in any order. */
  note(answer: unknown): boolean {
    const plan = planIn(answer);
    if (plan === undefined || plan.version <= this.#plan.version) return false;
    this.#plan = plan;
    return true;
  }

  manage(input: unknown): object {
    const parsed = INPUT.safeParse(input);
    if (!parsed.success) {
      return this.#refuse(
        "input_invalid",
        `${problemsIn(parsed.error)}. Nothing was changed.`,
        "Correct the named fields and call again.",
      );
    }
    const { operation, todoList, expectedVersion } = parsed.data;
    const current = this.#plan;
    if (operation === "read") return { operation, ...current };
    if (expectedVersion !== undefined && expectedVersion !== current.version) {
      return this.#refuse(
        "plan_stale",
        `The plan is at version ${current.version}, not ${expectedVersion}; nothing was changed.`,
        "Look at the list in this answer, then call again with its version.",
      );
    }
    const made = operation === "write" ? written(todoList) : updated(current.todoList, todoList);
    const problem = typeof made === "string" ? made : problemWith(made);
    if (problem !== undefined || typeof made === "string") {
      return this.#refuse(
        "plan_invalid",
        `${problem} Nothing was changed.`,
        "Correct the list and call again.",
      );
    }
    this.#plan = { version: current.version + 1, todoList: made };
    return { operation, ...this.#plan };
  }

  #refuse(error_type: string, message: string, next_action_hint: string): object {
    return { is_error: true, error_type, message, next_action_hint, ...this.#plan };
  }
}

function problemsIn({ issues }: z.ZodError): string {
  return issues.map(({ path, message }) => `${path.join(".") || "the input"}: ${message}`).join("; ");
}

function written(items: readonly Item[] | undefined): PlanStep[] | string {
  if (items === undefined) return "write needs todoList: the whole plan.";
  const bare = items.find(({ title }) => title === undefined);
  if (bare !== undefined) return `Item ${JSON.stringify(bare.id)} has no title.`;
  return items.map(({ id, title = "", status = "not-started", ...more }) => ({ id, title, status, ...more }));
}

function updated(steps: readonly PlanStep[], items: readonly Item[] | undefined): PlanStep[] | string {
  if (items === undefined || items.length === 0)
    return "update needs todoList: the items that change, with their ids.";
  if (steps.length === 0) return "There is no plan yet; write one first.";
  const repeated = repeatedId(items);
  if (repeated !== undefined) return `Item ${JSON.stringify(repeated)} is in the update twice.`;
  const known = new Set(steps.map(({ id }) => String(id)));
  const strange = items.find(({ id }) => !known.has(String(id)));
  if (strange !== undefined) {
    return `There is no item ${JSON.stringify(strange.id)}; there are: ${[...known].join(", ")}.`;
  }
  const changes = new Map(items.map(({ id: _id, ...change }, index) => [String(items[index]?.id), change]));
  return steps.map((step) => ({ ...step, ...withoutUndefined(changes.get(String(step.id)) ?? {}) }));
}

function problemWith(steps: readonly PlanStep[]): string | undefined {
  const repeated = repeatedId(steps);
  if (repeated !== undefined) return `Two items have the id ${JSON.stringify(repeated)}; ids must differ.`;
  const active = steps.filter(({ status }) => status === "in-progress").map(({ id }) => id);
  if (active.length > 1) return `Items ${active.join(", ")} are in-progress; at most one may be.`;
  return undefined;
}

/** 1 and "1" are one id: a model may send either. */
function repeatedId(items: readonly { readonly id: number | string }[]): number | string | undefined {
  const seen = new Set<string>();
  return items.find(({ id }) => seen.size === seen.add(String(id)).size)?.id;
}

/** Parses a plan from an output of this tool, or from a state, which may come from anywhere. */
export function planIn(value: unknown): Plan | undefined {
  const parsed = PLAN.safeParse(value);
  return parsed.success ? parsed.data : undefined;
}

const PLAN = z.object({
  version: z.int().min(0),
  todoList: z.array(z.looseObject({ id: ITEM.shape.id, title: z.string(), status: z.enum(STATUSES) })),
});

export function createTodoListSpec(): ToolSpec {
  return createToolSpec(
    {
      name: TODO_LIST,
      description:
        "Your plan. Write it before work of several steps, update it as steps begin and end, read it when unsure. Every answer has the version.",
      schema: INPUT,
      execute: () => undefined,
    },
    {},
  );
}

const ANYTHING = z.unknown();

/** Binds the tool to one invoke. The plan refuses an invalid change, with its version and list. */
export function withPlan(spec: ToolSpec, book: PlanBook): ToolSpec {
  return { ...spec, schema: ANYTHING, execute: (input) => book.manage(input) };
}
