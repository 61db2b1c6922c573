/** Toolwright: define a tool once, log every call of it, and run its side effects once. */

export { ERROR_CODES, ToolwrightError } from "./errors.ts";
export type { Effect, ErrorCode, ModelError, ToolwrightErrorOptions } from "./errors.ts";

export { createTool, defineTool } from "./tool/define-tool.ts";
export type { CreateToolOptions } from "./tool/define-tool.ts";
export { fromTool, toTools } from "./tool/from-tool.ts";
export type { ForeignPolicy, ToolLike, ToolSource } from "./tool/from-tool.ts";
export type { AnyTool, Tool, ToolCallOptions } from "./tool/tool.ts";
export type {
  CacheOptions,
  CliOptions,
  ConcurrencyOptions,
  DefineToolOptions,
  OnUnknown,
  ParsedPositional,
  RateOptions,
  Reconciled,
  RedactOptions,
  RetryOptions,
  RevertFields,
  ToolDefinition,
  ToolPolicies,
} from "./definition/tool-options.ts";

export { createRegistry, getAllTools, getTool, getToolsByGroup, registerTool } from "./tool/registry.ts";
export type { Registry } from "./tool/registry.ts";

export {
  getToolContext,
  getToolIdempotencyKey,
  nextToolSeq,
  runWithToolContext,
  sharedCapability,
} from "./definition/context.ts";
export type {
  BaseToolContext,
  PartialToolContext,
  SharedCapability,
  ToolCapabilities,
  ToolContext,
  ToolLog,
  ToolProgress,
} from "./definition/context.ts";
export type { ToolSettings } from "./definition/tool-settings.ts";
export type { EmbeddingModelLike } from "./definition/models.ts";
export { getDefinedToolMetadata } from "./tool/tool.ts";
export type { ToolMetadata } from "./tool/tool.ts";

export { bash } from "./builtin/bash.ts";
export { edit } from "./builtin/edit.ts";
export { grep } from "./builtin/grep.ts";
export { read } from "./builtin/read.ts";
export { tools } from "./builtin/tools.ts";
export { write } from "./builtin/write.ts";

export { registerToolsAsCLI } from "./adapters/commander/register-tools.ts";
export type { RegisterToolsOptions } from "./adapters/commander/register-tools.ts";

export { createRuntime } from "./runtime/create-runtime.ts";
export type { EnqueuedRun, EnqueueOptions } from "./runtime/runtime.ts";
export type { ForkedRun, ForkOptions, RevertOptions } from "./runtime/runtime.ts";
export type { RevertEntry, RevertReport } from "./runtime/revert/revert-report.ts";
export type {
  Runtime,
  RuntimeCallOptions,
  RunScopeOptions,
  StreamOptions,
  TaskIdentity,
} from "./runtime/runtime.ts";
export type { StreamPart, StreamPartDetails, StreamPlace } from "./stream/stream-part.ts";
export type { GcOptions, GcReport } from "./runtime/collect-garbage.ts";
export type {
  NodeStatus,
  RunCounts,
  RunDescription,
  RunError,
  RunExplanation,
  RunFilter,
  RunLineage,
  RunNode,
  RunPage,
  RunStatus,
  RunStep,
  RunSummary,
  RunWait,
} from "./runtime/runs.ts";
export type { Schedule, ScheduleOptions, Schedules } from "./runtime/schedules.ts";
export type { SentSignal, SignalOptions } from "./runtime/signals.ts";
export type { RuntimeOptions } from "./runtime/options.ts";
export type { ApprovalDecision } from "./runtime/approvals.ts";
export type { ApprovalResolution } from "./invoke/approvals/decision.ts";
export type { CallFilter, LoggedCall } from "./store/tables/call-log.ts";
export type { Approval as ApprovalRequest } from "./invoke/approval.ts";
export type { EventEnvelope, Plan, PlanStep, RunKind, RuntimeEvent } from "./invoke/events.ts";
export type { Limits } from "./invoke/host.ts";
export type { Outcome } from "./invoke/outcome.ts";
export type { Store } from "./store/store.ts";
export type { Clock } from "./util/clock.ts";

export { runAgentLoop, runChatTurn } from "./adapters/anthropic/run-agent-loop.ts";
export { toAnthropicTool, toAnthropicTools } from "./adapters/anthropic/to-anthropic-tool.ts";
export type { AgentLoopEvent, AgentLoopOptions, AgentLoopResult } from "./adapters/anthropic/loop-types.ts";

export { createSmartAgent } from "./agent/create-smart-agent.ts";
export type { AgentSnapshot, SmartAgent } from "./agent/create-smart-agent.ts";
export type { DecidedState, ToolApprovalResolution } from "./agent/decided-state.ts";
export type { SmartAgentEvent } from "./agent/events.ts";
export type { AgentMessage } from "./model/messages.ts";
export type {
  AgentStop,
  InvokeOptions,
  InvokeResult,
  Retention,
  SmartAgentLimits,
  SmartAgentOptions,
  ToolRetention,
} from "./agent/options.ts";
export type {
  AgentInput,
  AgentState,
  AgentUsage,
  PendingToolApproval,
  ToolHistoryEntry,
} from "./agent/state.ts";
export type { AgentToolOptions } from "./agent/sub-agent.ts";

export {
  Approval,
  Branch,
  Loop,
  Parallel,
  Ralph,
  Saga,
  Sequence,
  Signal,
  Sleep,
  Task,
  Workflow,
} from "./workflow/components.ts";
export type {
  ApprovalProps,
  BranchProps,
  LoopProps,
  ParallelProps,
  RetryPolicy,
  SagaProps,
  SignalProps,
  SleepProps,
  TaskProps,
  OnChange,
  WorkflowAgent,
  WorkflowProps,
} from "./workflow/components.ts";
export type { OutputPlace, WorkflowContext } from "./workflow/context.ts";
export { createSmithers, createWorkflows } from "./workflow/create-workflows.ts";
export type {
  Smithers,
  SmithersOptions,
  WorkflowDefinition,
  Workflows,
  WorkflowsOptions,
} from "./workflow/create-workflows.ts";
export type { WorkflowElement, WorkflowNode } from "./workflow/element.ts";
export type { OutputToken, Schemas } from "./workflow/output-token.ts";
export type { WorkflowEvent } from "./workflow/run-state.ts";
export { runWorkflow } from "./workflow/run-workflow.ts";
export { createWorker } from "./worker/create-worker.ts";
export type { Worker } from "./worker/create-worker.ts";
export type { Program, ProgramJob, WorkerOptions, WorkerWorkflowSource } from "./worker/options.ts";
export type { WorkerStatus } from "./worker/worker-status.ts";
export type { RunWorkflowOptions, WorkflowResult } from "./workflow/run-workflow.ts";
