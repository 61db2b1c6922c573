/** What `runtime.runs`, `runtime.describeRun`, `runtime.fork` and others do. Loaded by the first of them. */
import type { StoreOption } from "../store/open-store.ts";
import { type CommandSyntax } from "./commands.ts";
import { absoluteAddress, withoutPassword } from "./store-address.ts";

export { describeRun } from "./describe-run.ts";
export { explainRun } from "./explain-run.ts";
export { forkRun } from "./fork-run.ts";
export { listRuns } from "./list-runs.ts";
export { revertRun } from "./revert-run.ts";

/** Commands name the store: a program does not know which one the command line uses in the folder of the reader. */
export function syntaxFor(store: StoreOption): CommandSyntax {
  const address = typeof store === "string" ? store : store.path;
  const isReachable = address !== undefined && address !== ":memory:";
  return {
    program: "npx toolwright",
    store: isReachable ? withoutPassword(absoluteAddress(address)) : undefined,
  };
}
export { enqueueRun } from "./enqueue.ts";
