/** What a loop of the AI SDK hands to a tool beside its input. */

/**
 * The capabilities of a tool that reads them: `execute(args, ctx: ToolContext<AISDKContext<{ userId: string }>>)`. They are
 * `undefined` where something else makes the call. A capability of the runtime under such a name counts more.
 */
export interface AISDKContext<Context = unknown, Message = unknown, Sandbox = unknown> {
  /** The messages that led to the call. */
  readonly messages?: readonly Message[] | undefined;
  /** The entry of `toolsContext` for this tool. */
  readonly context?: Context | undefined;
  readonly experimental_sandbox?: Sandbox | undefined;
}
