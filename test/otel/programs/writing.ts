/** A workflow whose agent fails once. The process that runs its second attempt is killed, and another one ends it. */
import { createSmithers } from "../../../src/index.ts";
import { jsx } from "../../../src/jsx-runtime.ts";

/** @param write the work of an attempt, which counts from 1 in each process */
export function createWriting(write: (attempt: number) => Promise<void>) {
  const { Workflow, Task, smithers } = createSmithers({}, { dbPath: ":memory:" });
  let attempts = 0;
  const writer = {
    id: "writer",
    generate: async () => {
      attempts += 1;
      await write(attempts);
      return { text: "Done." };
    },
  };
  return smithers(() =>
    jsx(Workflow, {
      name: "writing",
      children: jsx(Task, { id: "write", agent: writer, retries: 2, children: "Write." }),
    }),
  );
}
