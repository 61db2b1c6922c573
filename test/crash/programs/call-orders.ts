/**
 * Calls one order tool for each given article, all at once. On request it first waits until another of these programs
 * has come as far, so that both call at the same time. Takes one argument, in JSON; prints the outcomes in JSON.
 */
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
  /** Waits for the other program at the shop before it starts. */
  readonly meets?: boolean;
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
if (input.meets === true) await fetch(`${input.shopUrl}?meet`);
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
