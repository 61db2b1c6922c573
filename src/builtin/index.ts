/** `toolwright/tools`: the built-in tools and their building blocks. */

export { bash, bashTool } from "./bash.ts";
export type { BashOptions } from "./bash.ts";
export { capabilitiesTools } from "./capabilities/capabilities-tools.ts";
export { contextTools } from "./context/context-tools.ts";
export { edit, editFileTool } from "./edit.ts";
export { grep, grepTool } from "./grep.ts";
export { read, readFileTool } from "./read.ts";
export type { ReadPart } from "./read.ts";
export { taskTools } from "./task-tools.ts";
export { tools } from "./tools.ts";
export { write, writeFileTool } from "./write.ts";

export {
  BASH_TOOL_MAX_ARG_LENGTH,
  BASH_TOOL_MAX_ARGS,
  BASH_TOOL_MAX_COMMAND_LENGTH,
  BASH_TOOL_MAX_CWD_LENGTH,
  BASH_TOOL_MAX_OUTPUT_BYTES,
  BASH_TOOL_MAX_TIMEOUT_MS,
} from "../sandbox/process/command-limits.ts";
export { describeIsolation } from "../sandbox/tiers/isolation.ts";
export type { IsolationDescription, IsolationTier } from "../sandbox/tiers/isolation-tier.ts";

export { listGitSnapshots } from "../snapshot/list-git-snapshots.ts";
export type { GitSnapshot } from "../snapshot/list-git-snapshots.ts";
export { removeGitSnapshots } from "../snapshot/remove-git-snapshots.ts";
export { restoreGitSnapshot } from "../snapshot/restore-git-snapshot.ts";

export {
  getToolContext,
  getToolIdempotencyKey,
  nextToolSeq,
  runWithToolContext,
} from "../definition/context.ts";
export type { PartialToolContext, ToolContext } from "../definition/context.ts";
export { getDefinedToolMetadata } from "../tool/tool.ts";
export type { ToolMetadata } from "../tool/tool.ts";
