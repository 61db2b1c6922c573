/** `toolwright/server`: the HTTP API and the page of a store. */
export { createHandler } from "./create-handler.ts";
export { serve, toNodeListener } from "./serve.ts";
export type { Handler } from "./create-handler.ts";
export type { HandlerOptions, ServeOptions } from "./options.ts";
export type { ToolwrightServer } from "./serve.ts";
export type { Scope, ServerToken } from "./tokens.ts";
export type { ServedWorkflows, WorkflowSource } from "./workflow-runs.ts";
