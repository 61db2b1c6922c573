/** The key under which a request is one request, however often it is sent. */

/** Where it stands in `_meta`, in requests and in results. */
export const MCP_IDEMPOTENCY_KEY = "toolwright/idempotency-key";
