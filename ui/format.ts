/** Times, durations and counts as short texts. */
import { escapeUnsafeInJson } from "../src/util/storable-text.ts";
import type { Approval } from "./types.ts";

export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`;
  if (ms < 86_400_000) return `${Math.floor(ms / 3_600_000)} h ${Math.round((ms % 3_600_000) / 60_000)} min`;
  return `${Math.floor(ms / 86_400_000)} d ${Math.round((ms % 86_400_000) / 3_600_000)} h`;
}

/** In one unit, so that a list of them is calm. */
export function roughly(ms: number): string {
  if (ms < 60_000) return `${Math.floor(ms / 1_000)} s`;
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min`;
  if (ms < 86_400_000) return `${Math.floor(ms / 3_600_000)} h`;
  return `${Math.floor(ms / 86_400_000)} d`;
}

export function ago(ms: number, now: number): string {
  return now - ms < 5_000 ? "just now" : `${roughly(now - ms)} ago`;
}

export function moment(ms: number): string {
  return new Date(ms).toLocaleString();
}

export function count(number: number, what: string): string {
  return `${number.toLocaleString("en")} ${what}${number === 1 ? "" : "s"}`;
}

/** The same value, with nothing that reorders or hides text: people read and edit it. */
export function asJson(value: unknown): string {
  return escapeUnsafeInJson(JSON.stringify(value, null, 2) ?? "");
}

const ANSWERS = {
  happened: 'answered "It happened"',
  "run-again": 'answered "Run it again"',
  "give-up": 'answered "Give up"',
} as const;

/** The decision about a request, by whom and when. */
export function decisionOf({ status, resolution, decidedBy, decidedAtMs }: Approval): string {
  const what = resolution === null ? status : ANSWERS[resolution];
  return `${what} by ${decidedBy ?? "an unnamed approver"}, ${moment(decidedAtMs ?? 0)}`;
}

interface Named {
  readonly nodeId: string;
  readonly path: string;
  readonly kind?: string;
}

/** The name of a task with its pass or turn, counted from 1 as in the explanation of a run. The first is not named. */
export function taskName({ nodeId, path, kind }: Named): string {
  // The path of reverts is a word: they are in no loop.
  const passes = /^\d/.test(path) ? path.split(".").map((pass) => Number(pass) + 1) : [];
  return passes.every((pass) => pass === 1)
    ? nodeId
    : `${nodeId} (${kind === "turn" ? "turn" : "pass"} ${passes.join(".")})`;
}

/** A run without its own name is called by its kind. */
export function kindAndName({ kind, name }: { readonly kind: string; readonly name: string }): string {
  return name === "" || name === kind ? kind : `${kind} ${name}`;
}
