/** How long a logged call takes in a store that is used for nothing else. */
import { z } from "zod";
import { createRuntime } from "../../runtime/create-runtime.ts";
import { defineTool } from "../../tool/define-tool.ts";
import { type Budget, judge, type Measurement, sample } from "./measurement.ts";

const schema = z.object({ index: z.number() });

/** @param slowMs for an idempotent call; one that must not be repeated may take twice as long */
export async function measureCalls(store: string, budget: Budget, slowMs: number): Promise<Measurement[]> {
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
  const advice = "Calls spend their time in commits: see the advice for commits above.";
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
