/** A call that waits for approval, seen and decided over HTTP. */
import assert from "node:assert/strict";
import { createRuntime, defineTool } from "toolwright";
import { serve } from "toolwright/server";
import { z } from "zod";

const pay = defineTool({
  name: "pay",
  description: "Pay an invoice",
  schema: z.object({ invoice: z.string(), euros: z.number() }),
  sideEffect: true,
  idempotent: false,
  needsApproval: true,
  execute: ({ euros }, ctx) => ({ paid: euros, reference: ctx.idempotencyKey?.slice(0, 4) }),
});

await using runtime = createRuntime({ store: ":memory:" });
await using server = await serve({ runtime, port: 0 });
console.log(`The page: ${server.url}`);

const api = async (path: string, body?: unknown): Promise<Response> =>
  fetch(`${server.url}/api/v1${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${server.token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

const first = await runtime.call(pay, { invoice: "2026-17", euros: 120 }, { runId: "invoice-17" });
assert.equal(first.status, "pending");

const { approvals } = (await (await api("/approvals?status=pending")).json()) as {
  approvals: { id: string; argsHash: string; args: unknown }[];
};
const [request] = approvals;
assert(request !== undefined);
console.log("Waits for approval:", request.args);

const decision = { approved: true, argsHash: request.argsHash, comment: "within budget" };
const decided = (await (await api(`/approvals/${request.id}/decision`, decision)).json()) as {
  decidedBy: string;
};
console.log("Approved by:", decided.decidedBy);
assert.equal((await api(`/approvals/${request.id}/decision`, decision)).status, 409);

const second = await runtime.call(pay, { invoice: "2026-17", euros: 120 }, { runId: "invoice-17" });
assert.equal(second.status, "success");
console.log("Paid:", second.output);
