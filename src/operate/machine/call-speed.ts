/** How long a logged call takes in a store that is used for nothing else. */
import { z } from "zod";
import { createRuntime } from "../../runtime/create-runtime.ts";
import { defineTool } from "../../tool/define-tool.ts";
import { type Budget, judge, type Measurement, sample } from "./measurement.ts";

const schema = z.object({ index: z.number() });

/**
 * @param slowMs for an idempotent call; one that must not be repeated may take twice as long
 * @param earlier what was measured before, which may be the reason if calls are slow
 */
export async function measureCalls(
  store: string,
  budget: Budget,
  slowMs: number,
  earlier: readonly Measurement[],
): Promise<Measurement[]> {
  const repeatable = defineTool({ name: "doctor.repeatable", schema, execute: ({ index }) => ({ index }) });
  const unrepeatable = defineTool({
    name: "doctor.unrepeatable",
    schema,
    sideEffect: true,
    idempotent: false,
    execute: ({ index }, ctx) => ({ index, key: ctx.idempotencyKey }),
  });
  await using runtime = createRuntime({ store });
  let index = 0;
  const callOf = (tool: typeof repeatable | typeof unrepeatable) => () =>
    runtime.call(tool, { index: (index += 1) }, { runId: "doctor" });
  const advice = adviceAfter(earlier);
  return [
    judge(
      { name: "call", what: "one logged call", slowMs, advice },
      await sample(budget, callOf(repeatable)),
    ),
    judge(
      {
        name: "side-effect",
        what: "one call of a side effect that must not be repeated",
        slowMs: slowMs * 2,
        advice,
      },
      await sample(budget, callOf(unrepeatable)),
    ),
  ];
}

/** What to do about slow calls. */
export function adviceAfter(earlier: readonly Measurement[]): string {
  const isSlow = (prefix: string): boolean =>
    earlier.some(({ name, status }) => name.startsWith(prefix) && status === "note");
  if (isSlow("round-trip"))
    return "Calls wait for several round trips: see the advice for the round trip above.";
  if (isSlow("commit")) return "Calls spend their time in commits: see the advice for commits above.";
  return "Commits are fast, so the processor is slow, or busy with other work.";
}
