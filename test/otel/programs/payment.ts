/** The workflow that a process begins, and another one ends. */
import { createSmithers, defineTool } from "../../../src/index.ts";
import { jsx } from "../../../src/jsx-runtime.ts";
import { z } from "zod";

export function createPayment(onCharge: () => void) {
  const effect = { schema: z.object({}), sideEffect: true, idempotent: true } as const;
  const reserve = defineTool({ ...effect, name: "reserve", execute: () => "reserved" });
  const charge = defineTool({
    ...effect,
    name: "charge",
    execute: () => {
      onCharge();
      return "charged";
    },
  });
  const { Workflow, Task, smithers, outputs } = createSmithers(
    { output: z.string() },
    { dbPath: ":memory:" },
  );
  const pay = async (): Promise<string> => `${await reserve.execute({})} ${await charge.execute({})}`;
  return smithers(() =>
    jsx(Workflow, {
      name: "pay",
      children: jsx(Task, { id: "pay", output: outputs.output, children: pay }),
    }),
  );
}
