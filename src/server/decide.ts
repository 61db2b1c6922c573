/** Decides an approval request over HTTP. The decision is attributed to the token, and is for the arguments that were shown. */
import type { z } from "zod";
import { readShownApproval } from "../operate/list-approvals.ts";
import { decideRequest } from "../operate/decide-request.ts";
import { withNulls } from "./with-nulls.ts";
import type { RouteInput } from "./route.ts";
import type { DECISION } from "./schemas.ts";

type Input = RouteInput<{ readonly id: string }, unknown, z.infer<typeof DECISION>>;

/** @throws TOOL_APPROVAL_NOT_FOUND, TOOL_APPROVAL_SETTLED, TOOL_APPROVAL_EXPIRED, TOOL_APPROVAL_MISMATCH */
export function decideFrom({ backend, params, body, caller }: Input): Promise<unknown> {
  return backend.use(async ({ runtime, store }) => {
    const { settled } = await decideRequest(runtime, params.id, { ...body, decidedBy: caller.name });
    return withNulls(await readShownApproval(store, settled.id));
  });
}
