/** Runs one of the programs in a process of its own. Arguments: its name, the store, the world. Prints its report in JSON. */
import {
  argumentValues,
  bareCalls,
  businessKeys,
  cachedCalls,
  errorArguments,
  outputValues,
  redactedCalls,
} from "./calls.ts";
import {
  aiSdkRecorded,
  aiSdkRun,
  anthropicChat,
  anthropicLoop,
  smartAgentFinished,
  smartAgentInterrupted,
} from "./loops.ts";
import { notifyOnce, requestRefunds } from "./waiting.ts";
import {
  finishedLoops,
  finishedWorkflow,
  interruptedAgent,
  interruptedLoops,
  waitingWorkflow,
} from "./workflows.ts";

const PROGRAMS = {
  argumentValues,
  bareCalls,
  businessKeys,
  cachedCalls,
  errorArguments,
  outputValues,
  redactedCalls,
  aiSdkRecorded,
  aiSdkRun,
  anthropicChat: (input) => anthropicChat(input),
  anthropicLoop,
  smartAgentFinished: (input) => smartAgentFinished(input),
  smartAgentInterrupted,
  notifyHeld: (input) => notifyOnce(input, "held"),
  notifyAsked: (input) => notifyOnce(input, "asked"),
  requestRefunds,
  finishedLoops,
  finishedWorkflow,
  interruptedAgent,
  interruptedLoops,
  waitingWorkflow,
} satisfies Record<string, (input: { store: string; worldUrl: string }) => Promise<unknown>>;

export type ProgramName = keyof typeof PROGRAMS;

const [name = "", store = "", worldUrl = ""] = process.argv.slice(2);
const report = await PROGRAMS[name as ProgramName]({ store, worldUrl });
// What JSON has no form for is compared where the program runs in the test's own process.
console.log(JSON.stringify(report, (_, value: unknown) => (typeof value === "bigint" ? `${value}n` : value)));
