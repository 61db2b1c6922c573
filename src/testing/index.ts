/** `toolwright/testing`: test kits for tools, agents and stores. */

export { createScriptedModel } from "./model/scripted-model.ts";
export type { ScriptedModel } from "./model/scripted-model.ts";
export type {
  ScriptedAnswer,
  ScriptedMessage,
  ScriptedModelOptions,
  ScriptedParts,
  ScriptedRequest,
  ScriptedToolCall,
  ScriptedToolResult,
  ScriptedTurn,
} from "./model/script.ts";

export { createScriptedAnthropic } from "./anthropic/scripted-anthropic.ts";
export type { AnthropicRequest, AnthropicTurn, ScriptedAnthropic } from "./anthropic/scripted-anthropic.ts";
export type { AnthropicAnswer, AnthropicParts, HttpFailure } from "./anthropic/answer.ts";

export { createFakeClock } from "./fake-clock.ts";
export type { FakeClock, PendingSleep } from "./fake-clock.ts";

export { createMemoryStore } from "./memory-store.ts";

export { CRASH_POINTS, reachCrashPoint } from "./crash/crash-point.ts";
export type { CrashPoint } from "./crash/crash-point.ts";
export { createCrashableRuntime } from "./crash/crashable-runtime.ts";
export { createCrashProgram } from "./crash/crash-program.ts";
export type {
  CrashProgram,
  CrashProgramOptions,
  CrashRunOptions,
  ProgramRun,
} from "./crash/crash-program.ts";

export { recordRun } from "./record-run.ts";
export { replayRun } from "./replay-run.ts";
export type { ReplayedProgram, ReplayOptions, ReplayResult } from "./replay-run.ts";
export type { Fixture, NearestRecord, ReplayDifference } from "../invoke/replay/fixture.ts";

export { storeContract } from "./store-contract/store-contract.ts";
export type {
  ContractCase,
  ContractDatabase,
  StoreContractOptions,
} from "./store-contract/store-contract.ts";
