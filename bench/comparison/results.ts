/**
 * The measurements of one run of the comparison: the content of `docs/comparison.json`, from which the page and charts
 * are made.
 */

export const ROWS = [
  {
    id: "loop",
    title: "Tool call in an agent loop, nothing stored",
    unit: "µs",
    about:
      "The cost of the loop alone. A scripted model asks for one call per response; the tool does nothing.",
  },
  {
    id: "logged",
    title: "Logged call",
    unit: "µs",
    about:
      "The same loop, with every response and every call stored before the model is asked again, so that a new process can resume.",
  },
  {
    id: "wide",
    title: "64 logged calls at once, each",
    unit: "µs",
    about: "The same, with 64 calls in each response.",
  },
  {
    id: "step",
    title: "Durable step",
    unit: "µs",
    about: "A program of 1,000 steps, one after the other, without a model. The result of each is stored.",
  },
  {
    id: "resume",
    title: "Resume of 1,000 finished steps",
    unit: "ms",
    about:
      "That program, killed in step 1,001, in a new process: from open stores to the moment at which step 1,001 starts again.",
  },
  {
    id: "agent",
    title: "Agent of 10,000 turns",
    unit: "s",
    about:
      "One call per turn, stored where the system can store it. A system that is not done in time is stopped; " +
      "the growth compares its last turns with its first.",
  },
  {
    id: "kill",
    title: "Killed in a call: effects outside",
    unit: "effects",
    about:
      "An agent that places 20 orders at a shop. The shop accepts the tenth and kills the process (`SIGKILL`) before it answers. " +
      "A new process resumes, or starts over if nothing is stored. The shop counts: each order should arrive once.",
  },
  {
    id: "kill-keyed",
    title: "The same, with a shop that takes idempotency keys",
    unit: "effects",
    about:
      "The shop ignores an order whose key it has seen. Each system passes the key that it offers for a call.",
  },
] as const;

export type RowId = (typeof ROWS)[number]["id"];

export type Cell =
  /** In the unit of the row. */
  | { readonly kind: "time"; readonly value: number; readonly note?: string }
  | {
      readonly kind: "turns";
      readonly turns: number;
      readonly seconds: number;
      readonly earlyUs: number;
      readonly lateUs: number;
      readonly isComplete: boolean;
      readonly isStored: boolean;
    }
  | {
      readonly kind: "effects";
      readonly orders: number;
      readonly effects: number;
      readonly twice: number;
      readonly missing: number;
      /** How many questions an operator had to answer. */
      readonly asked: number;
      readonly isStored: boolean;
      /** Why the new process did not finish the run. */
      readonly failure?: string;
    }
  | { readonly kind: "cannot"; readonly why: string }
  /** It failed in this run. */
  | { readonly kind: "failed"; readonly why: string };

export interface Description {
  readonly name: string;
  readonly setup: string;
  readonly versions: Readonly<Record<string, string>>;
}

/** The systems that were measured. One that failed in every row, for example because it did not load, has no column. */
export function systemsOf({ columns, cells }: Comparison): { readonly id: string; readonly name: string }[] {
  return Object.keys(cells[ROWS[0].id]).map((id) => ({ id, name: columns[id]?.name ?? id }));
}

export interface Comparison {
  readonly format: 1;
  readonly command: string;
  readonly date: string;
  readonly node: string;
  readonly machine: string;
  readonly columns: Readonly<Record<string, Description>>;
  /** By row, then by column. */
  readonly cells: Readonly<Record<RowId, Readonly<Record<string, Cell>>>>;
}
