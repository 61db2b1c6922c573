/** The status and kind names in stored runs and requests. Imports nothing, so every command can load it quickly. */

export const RUN_KINDS = ["workflow", "agent", "program", "tool"] as const;
/** `tool`: a single call from the command line or an MCP client. */
export type RunKind = (typeof RUN_KINDS)[number];

export const RUN_STATES = [
  "queued",
  "running",
  "waiting-approval",
  "waiting-timer",
  "waiting-signal",
  "finished",
  "failed",
  "cancelled",
] as const;
export type RunState = (typeof RUN_STATES)[number];

export const APPROVAL_STATUSES = ["pending", "approved", "denied", "expired", "void"] as const;
export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number];
