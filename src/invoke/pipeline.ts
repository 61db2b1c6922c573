/** The stages of every call, in order. docs/internals/pipeline.md says why each stage comes where it does. */
import type { Call } from "./call.ts";
import type { Result } from "./outcome.ts";
import { approve, approveDetached } from "./policies/approve.ts";
import { begin } from "./policies/begin.ts";
import { breaker } from "./policies/breaker.ts";
import { cache } from "./policies/cache.ts";
import { claim, nameClaim } from "./policies/claim.ts";
import { warnOutsideRuns } from "./detached.ts";
import { execute } from "./policies/execute.ts";
import { journal } from "./journal/journal.ts";
import { limit } from "./policies/limit.ts";
import { capacity } from "./policies/capacity.ts";
import { retry } from "./policies/retry.ts";
import { timeout } from "./policies/timeout.ts";
import { toolLimits } from "./policies/tool-limits.ts";
import { enterSpan, trace } from "./policies/trace.ts";
import { validate } from "./policies/validate.ts";
import { compose, type Policy } from "./policy.ts";

const pipeline: readonly Policy[] = [
  journal, // checks in the log whether the call has to run; stores its outcome
  validate, // parses the input, and the output on the way back
  claim, // one effect per business key in the whole store
  limit, // limits of the run and of the tool
  approve, // risky calls wait for approval
  capacity, // waits for a slot, a budget, the breaker or a place
  cache, // equal pure calls share one result
  breaker, // refuses calls of a tool that keeps failing
  toolLimits, // limits of the tool across processes
  begin, // commits the intent, and everything that the call spends
  retry,
  timeout, // limits each try
  execute,
];

/** For calls outside any run: the policies that need no store. */
const detachedPipeline: readonly Policy[] = [
  validate,
  nameClaim,
  approveDetached,
  warnOutsideRuns, // after all refusals: a refused call has no effect to warn about
  retry,
  timeout,
  execute,
];

/** With telemetry: two more stages. */
const tracedPipeline: readonly Policy[] = [
  trace, // sees every exit
  ...pipeline.toSpliced(pipeline.indexOf(begin), 0, enterSpan), // the intent has the span context
];

const runPlain = compose(pipeline);
const runTraced = compose(tracedPipeline);

export function runPipeline(call: Call): Promise<Result> {
  const { telemetry } = call.host;
  return telemetry === undefined || telemetry.isIdle() ? runPlain(call) : runTraced(call);
}

export const runDetachedPipeline: (call: Call) => Promise<Result> = compose(detachedPipeline);
