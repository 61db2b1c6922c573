/** A request for `--json`: missing values are `null`, so that every row has the same fields. */
import type { Approval } from "../invoke/approval.ts";

export function approvalRow(request: Approval): Record<string, unknown> {
  return Object.fromEntries(Object.entries(request).map(([name, value]) => [name, value ?? null]));
}
