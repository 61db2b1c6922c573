/**
 * Calls one order tool for each given article, all at once and at a given moment, so that two of these programs do the
 * same at the same time. Takes one argument, in JSON; prints the outcomes in JSON.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { Limits } from "../../../src/index.ts";
import { createCrashableRuntime } from "../../../src/testing/index.ts";
import { createOrderTool, type OrderPolicies, type ToolKind } from "./shop-tools.ts";

export interface CallOrdersInput {
  readonly store: string;
  readonly shopUrl: string;
  readonly kind: ToolKind;
  readonly policies?: OrderPolicies;
  readonly limits?: Limits;
  readonly runId: string;
  readonly skus: readonly string[];
  /** By the system's clock. */
  readonly startAtMs?: number;
}

export interface CallOrdersOutcome {
  readonly sku: string;
  readonly status: string;
  readonly replayed: boolean;
  readonly errorCode: string | null;
}

const input = JSON.parse(process.argv[2] ?? "") as CallOrdersInput;
const tool = createOrderTool(input.kind, input.shopUrl, input.policies);

await using runtime = createCrashableRuntime({ store: input.store, limits: input.limits });
await runtime.ready();
await pause(Math.max(0, (input.startAtMs ?? 0) - Date.now()));
const outcomes = await Promise.all(
  input.skus.map(async (sku): Promise<CallOrdersOutcome> => {
    const outcome = await runtime.call(tool, { sku }, { runId: input.runId });
    return {
      sku,
      status: outcome.status,
      replayed: "replayed" in outcome && outcome.replayed,
      errorCode: outcome.status === "error" ? outcome.error.code : null,
    };
  }),
);
console.log(JSON.stringify(outcomes));
