/** One order tool for each way in which a call can be recovered after a crash. */
import { z } from "zod";
import { defineTool, type Tool } from "../../../src/index.ts";
import { reachCrashPoint } from "../../../src/testing/index.ts";

const order = z.object({ id: z.number(), sku: z.string(), key: z.string().nullable() });
type Order = z.output<typeof order>;
type OrderTool = Tool<{ sku: string }, Order>;

export const TOOL_KINDS = ["keyed", "reconciled", "blind", "business"] as const;
export type ToolKind = (typeof TOOL_KINDS)[number];

export interface OrderPolicies {
  readonly needsApproval?: boolean | ((args: { sku: string }) => boolean);
  readonly maxExecutionsPerRun?: number;
  /** Of a breaker that all runs share. */
  readonly circuitBreakerThreshold?: number;
  /** Of the reconciled tool. Default 300. */
  readonly settleMs?: number;
}

export function createOrderTool(kind: ToolKind, shopUrl: string, policies: OrderPolicies = {}): OrderTool {
  const schema = z.object({ sku: z.string() });
  const place = async (sku: string, key: string | null): Promise<Order> => {
    // Reached twice in each call: before the effect and after it.
    reachCrashPoint("in-effect");
    const response = await fetch(shopUrl, { method: "POST", body: JSON.stringify({ sku, key, kind }) });
    if (!response.ok) throw new Error(`the shop answered ${response.status}`);
    const placed = order.parse(await response.json());
    reachCrashPoint("in-effect");
    return placed;
  };
  const { circuitBreakerThreshold, settleMs = 300, ...others } = policies;
  const common = {
    name: `place_${kind}`,
    schema,
    outputSchema: order,
    sideEffect: true,
    retry:
      circuitBreakerThreshold === undefined
        ? {}
        : { circuitBreakerThreshold, breaker: { scope: "shared" as const } },
    ...others,
  } as const;
  switch (kind) {
    case "keyed":
      return defineTool({ ...common, execute: ({ sku }, ctx) => place(sku, ctx.idempotencyKey) });
    case "business":
      return defineTool({
        ...common,
        idempotencyKey: ({ sku }) => `order ${sku}`,
        execute: ({ sku }, ctx) => place(sku, ctx.idempotencyKey),
      });
    case "reconciled":
      return defineTool({
        ...common,
        settleMs,
        reconcile: async ({ sku }) => {
          const response = await fetch(`${shopUrl}?sku=${sku}`);
          const found = order.nullable().parse(await response.json());
          return found === null ? { happened: false } : { happened: true, output: found };
        },
        execute: ({ sku }) => place(sku, null),
      });
    case "blind":
      return defineTool({ ...common, execute: ({ sku }) => place(sku, null) });
  }
}
