/** A separate program, because memory is measured per process: runs a number of tasks and prints the peak memory. */
import { manyTasks } from "./workflow.ts";
import { runWorkflow } from "toolwright";

const [count = "0", store = ""] = process.argv.slice(2);
await runWorkflow(manyTasks(Number(count), "sequence", store), { runId: "r" });
console.log(process.resourceUsage().maxRSS * 1_024);
