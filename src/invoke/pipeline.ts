/** The way of every call, top to bottom. The order is the design: docs/policies.md says why each stands where it does. */
import type { Call } from "./call.ts";
import type { Result } from "./outcome.ts";
import { approve, approveDetached } from "./policies/approve.ts";
import { begin } from "./policies/begin.ts";
import { breaker } from "./policies/breaker.ts";
import { cache } from "./policies/cache.ts";
import { claim, nameClaim } from "./policies/claim.ts";
import { execute } from "./policies/execute.ts";
import { journal } from "./journal/journal.ts";
import { limit } from "./policies/limit.ts";
import { room } from "./policies/room.ts";
import { retry } from "./policies/retry.ts";
import { timeout } from "./policies/timeout.ts";
import { validate } from "./policies/validate.ts";
import { compose, type Policy } from "./policy.ts";

const pipeline: readonly Policy[] = [
  journal, // decides whether the call runs at all; writes what became of it
  validate, // parses the input, and the output on the way back
  claim, // one effect per business key in the whole store
  limit, // budgets of the run and of the tool
  approve, // risky calls wait for a person
  room, // waits for a place, a budget or a breaker
  cache, // equal pure calls share one answer
  breaker, // a tool that keeps failing is left alone
  begin, // the intent, and all that it spends, in one transaction
  retry,
  timeout, // of each try
  execute,
];

/** A tool that is called outside any run: the same policies, as far as they need no store. */
const detachedPipeline: readonly Policy[] = [validate, nameClaim, approveDetached, retry, timeout, execute];

export const runPipeline: (call: Call) => Promise<Result> = compose(pipeline);
export const runDetachedPipeline: (call: Call) => Promise<Result> = compose(detachedPipeline);
