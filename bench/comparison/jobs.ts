/** Jobs for contenders: the script of the model, the effect, and the moments that are measured. */
import { randomUUID } from "node:crypto";
import type { AgentJob, StorageLocation, ScriptedCall, StepsJob } from "./contender.ts";

const callOf = (index: number): ScriptedCall => ({
  id: `call_${randomUUID()}`,
  name: "order",
  input: { index },
});

const neverAsked = (): Promise<boolean> => Promise.reject(new Error("this job has no operator"));

export interface Watched<Job> {
  readonly job: Job;
  /** When each turn or step started. */
  readonly moments: number[];
  /** When the contender had opened its stores. */
  readonly startedAt: () => number;
}

/** A loop whose tool does nothing. It ends after `turns`, or at the first turn after `limitMs`. */
export function timedAgentJob(
  location: StorageLocation,
  options: {
    readonly turns: number;
    readonly width: number;
    readonly runId: string;
    readonly limitMs: number;
  },
): Watched<AgentJob> {
  const moments: number[] = [];
  let startedAt = Number.NaN;
  const { turns, width, runId, limitMs } = options;
  const job: AgentJob = {
    location,
    runId,
    isResume: false,
    turns,
    isKeyed: true,
    begin: () => {
      startedAt = performance.now();
    },
    execute: async (index) => ({ index }),
    ask: neverAsked,
    next: () => {
      const now = performance.now();
      const turn = moments.push(now) - 1;
      if (turn >= turns || now - startedAt > limitMs) return [];
      return Array.from({ length: width }, (_, offset) => callOf(turn * width + offset));
    },
  };
  return { job, moments, startedAt: () => startedAt };
}

/** A program whose last step never ends: `onLast` is called in it, or in the first step after `limitMs`. */
export function timedStepsJob(
  location: StorageLocation,
  options: {
    readonly count: number;
    readonly isResume: boolean;
    readonly limitMs: number;
    readonly onLast: (index: number) => void;
  },
): Watched<StepsJob> {
  const moments: number[] = [];
  let startedAt = Number.NaN;
  const { count, isResume, limitMs, onLast } = options;
  const job: StepsJob = {
    location,
    runId: "steps",
    isResume,
    count,
    begin: () => {
      startedAt = performance.now();
    },
    ask: neverAsked,
    execute: async (index) => {
      const now = performance.now();
      moments.push(now);
      if (index < count - 1 && now - startedAt < limitMs) return { index };
      onLast(index);
      return new Promise(() => undefined);
    },
  };
  return { job, moments, startedAt: () => startedAt };
}

/** Orders at a shop outside. The model reads from the conversation which order is next, as a real one does. */
export function orderJob(
  location: StorageLocation,
  options: {
    readonly orders: number;
    readonly isKeyed: boolean;
    readonly isResume: boolean;
    readonly shop: string;
  },
): AgentJob {
  const { orders, isKeyed, isResume, shop } = options;
  return {
    location,
    runId: "orders",
    isResume,
    turns: orders,
    isKeyed,
    begin: () => undefined,
    execute: async (index, key) => {
      const headers: Record<string, string> = isKeyed && key !== undefined ? { "idempotency-key": key } : {};
      const response = await fetch(`${shop}/orders/${index}`, { method: "POST", headers });
      await response.text();
      return { index };
    },
    ask: async (index) => (await fetch(`${shop}/orders/${index}`)).status === 200,
    next: (results) => {
      const index = results();
      return index >= orders ? [] : [callOf(index)];
    },
  };
}
