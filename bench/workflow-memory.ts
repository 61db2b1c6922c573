/** A program of its own, since memory is a matter of the whole process: runs so many tasks, prints the most that it used. */
import { manyTasks } from "./workflow.ts";
import { runWorkflow } from "toolwright";

const [count = "0", store = ""] = process.argv.slice(2);
await runWorkflow(manyTasks(Number(count), "sequence", store), { runId: "r" });
console.log(process.resourceUsage().maxRSS * 1_024);
