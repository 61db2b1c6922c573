/** The field of `_meta`, in requests and results, for the key that identifies a call across repeated requests. */
export const MCP_IDEMPOTENCY_KEY = "toolwright/idempotency-key";
