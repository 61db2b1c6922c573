/**
 * The one error class and the one table of codes. Everything that Toolwright refuses or fails at ends here,
 * so that the log, the model and the caller read the same words.
 */

/** Every code, with what it means and what the model should do next when the thrower has nothing better to say. */
export const ERROR_CODES = {
  TOOL_DEFINITION_INVALID: {
    meaning: "A tool was defined with an option that is missing, unknown or contradictory.",
    hint: "Fix the definition of the tool; the message names the option.",
  },
  TOOL_SCHEMA_UNREPRESENTABLE: {
    meaning: "A schema holds a type that JSON Schema cannot express, so it cannot be shown to a model.",
    hint: "Replace the named field's type as the message says.",
  },
  TOOL_ALREADY_REGISTERED: {
    meaning: "A second tool of the same name was registered.",
    hint: "Rename one of the tools, or use a registry of its own.",
  },
  TOOL_NOT_FOUND: {
    meaning: "No tool of that name is offered.",
    hint: "Call one of the tools that are offered.",
  },
  TOOL_CHANGED: {
    meaning: "A tool of somebody else's server is not what it was when it was pinned. Nothing was run.",
    hint: "Use another tool, and report that this one has changed; a person has to review it and pin it again.",
  },
  TOOL_PACKAGE_CONFLICT: {
    meaning: "Two versions of Toolwright in one process were used together. Nothing was run.",
    hint: "Install one version: npm ls toolwright shows which packages bring another one.",
  },
  TOOL_INPUT_INVALID: {
    meaning: "The arguments do not fit the tool's input schema. Nothing was run.",
    hint: "Correct the named fields and call the tool again.",
  },
  TOOL_INPUT_REDACTED: {
    meaning: "An argument holds a redaction mark in place of a value. Nothing was run.",
    hint: "Pass the real value; the mark only stands for it in logs.",
  },
  TOOL_OUTPUT_INVALID: {
    meaning: "The tool ran, and its output does not fit its output schema or cannot be stored.",
    hint: "The effect has happened: do not repeat the call. Check the result by other means.",
  },
  TOOL_EXECUTION_FAILED: {
    meaning: "The tool itself threw.",
    hint: "Read the message; change the arguments or try another way.",
  },
  TOOL_TIMEOUT: {
    meaning: "A try of the tool timed out.",
    hint: "Ask for less at once, or check whether the effect has happened before you repeat the call.",
  },
  TOOL_ABORTED: {
    meaning: "The call was cut off because its run or task was aborted.",
    hint: "The run was stopped; nothing more can be done in it.",
  },
  TOOL_LIMIT_EXCEEDED: {
    meaning: "A limit of the run or of the tool was exceeded. Nothing was run.",
    hint: "Do not call this tool again in this run; finish with what you have.",
  },
  TOOL_CIRCUIT_OPEN: {
    meaning: "The tool failed too often in a row, and its circuit breaker is open. Nothing was run.",
    hint: "Do not call this tool again in this run; find another way or report the failure.",
  },
  TOOL_APPROVAL_REQUIRED: {
    meaning: "The tool needs a person's approval, and there is no run in which it could be asked for.",
    hint: "Call the tool inside a run of a runtime.",
  },
  TOOL_APPROVAL_PENDING: {
    meaning: "The call waits for approval, or for an answer about an interrupted call. Nothing was run.",
    hint: "Wait for the decision, then make the same call again.",
  },
  TOOL_APPROVAL_DENIED: {
    meaning: "The call was denied, or an interrupted call was given up. Nothing was run.",
    hint: "Do not repeat the call; find another way or ask the person.",
  },
  TOOL_APPROVAL_EXPIRED: {
    meaning: "The request expired before a decision. Nothing was run.",
    hint: "Continue without this call, or report that it was not decided.",
  },
  TOOL_APPROVAL_NOT_FOUND: {
    meaning: "There is no approval request of that id.",
    hint: "List the pending requests and use one of their ids.",
  },
  TOOL_APPROVAL_SETTLED: {
    meaning: "The approval request was decided before.",
    hint: "A decision counts once; there is nothing left to decide.",
  },
  TOOL_APPROVAL_MISMATCH: {
    meaning: "The decision was made for other arguments or for another version of the tool. Nothing was run.",
    hint: "Ask again: the request has to show what would be run now.",
  },
  TOOL_OUTCOME_UNKNOWN: {
    meaning:
      "An earlier call was interrupted or failed, and it is not known whether it had its effect. Nothing was run.",
    hint: "Verify the external state first. If the effect is missing, call the tool once more.",
  },
  TOOL_IDEMPOTENCY_CONFLICT: {
    meaning: "The business key was used before with other arguments. Nothing was run.",
    hint: "Use the result of the earlier call, or another business key.",
  },
  TOOL_CALL_CYCLE: {
    meaning:
      "A call would wait for itself: a call around it, or one that waits for it, holds the same business key or is the very same call.",
    hint: "Do not call the tool from inside itself with the same key, nor let two calls call each other's keys.",
  },
  TOOL_ATTEMPT_STALE: {
    meaning: "The call belongs to an attempt that a later one has replaced. Nothing was run.",
    hint: "This attempt is over; nothing more can be done in it.",
  },
  TOOL_RUN_CONFLICT: {
    meaning: "The same run and task is already open elsewhere.",
    hint: "Wait until it has ended, or use another run id.",
  },
  TOOL_RUN_DELETED: {
    meaning: "The run was deleted by retention. Its id stays taken.",
    hint: "Start another run with another id.",
  },
  TOOL_RESULT_DELETED: {
    meaning:
      "The call, or one with the same business key, ran before, and its result was deleted by retention. Nothing was run.",
    hint: "Look up the result where the effect happened, or use another business key.",
  },
  TOOL_RUN_TAKEN: {
    meaning: "The run id belongs to a run that was begun with another input.",
    hint: "Use another run id, or send what the run began with.",
  },
  TOOL_RUN_FENCED: {
    meaning: "Another process has taken over this run, and this one may not write any more.",
    hint: "This process lost the run; the other one continues it.",
  },
  TOOL_RUNTIME_CLOSED: {
    meaning: "The runtime was disposed and takes no more calls.",
    hint: "Create a new runtime.",
  },
  TOOL_RUNTIME_REQUIRED: {
    meaning: "The tool works on the store of a runtime, and was called outside any. Nothing was run.",
    hint: "Call it by runtime.call(tool, args), or inside runtime.run(task, work).",
  },
  TOOL_STORE_FAILED: {
    meaning:
      "The store could not be read or written, so the call was stopped: what is not stored is not reported.",
    hint: "Fix what the message names, then resume the run: it continues from the last record.",
  },
  TOOL_STORE_VERSION: {
    meaning: "The store was written by a newer version of Toolwright. Nothing in it was changed.",
    hint: "Use the newer version, or another store.",
  },
  TOOL_STORE_DAMAGED: {
    meaning: "The store's file is damaged or is not a database. Nothing in it was changed.",
    hint: "Restore the file from a copy, or use another path.",
  },
  TOOL_RUN_NOT_FOUND: {
    meaning: "There is no run of that id in this store.",
    hint: "Check the run id and the store.",
  },
  TOOL_MODEL_FAILED: {
    meaning: "The model of an agent could not be asked, or answered with something that cannot be used.",
    hint: "Invoke again with the same run id: it continues from the last recorded answer.",
  },
  TOOL_OPTION_INVALID: {
    meaning: "An option is unknown, missing or has a value that it cannot have.",
    hint: "Correct the named option.",
  },
  TOOL_PATH_ESCAPE: {
    meaning: "The path leads out of the sandbox root.",
    hint: "Use a path inside the root.",
  },
  TOOL_PATH_INVALID: {
    meaning: "The path is empty, too long or holds a character that no path may hold.",
    hint: "Use a plain relative path.",
  },
  TOOL_PATH_PROTECTED: {
    meaning: "The path belongs to Toolwright or to git itself and cannot be changed by a tool.",
    hint: "Leave this file alone.",
  },
  TOOL_FILE_NOT_FOUND: {
    meaning: "There is no file or folder at that path.",
    hint: "Look for the right path first, for example with grep.",
  },
  TOOL_PATH_CONFLICT: {
    meaning: "There is a context item at that drive and path already. Nothing was written.",
    hint: "Look at it with context_read, or replace it with on_conflict='overwrite'.",
  },
  TOOL_CONTEXT_NOT_FOUND: {
    meaning: "There is no context item at that drive and path.",
    hint: "Look for it with context_tree or context_search.",
  },
  TOOL_FILE_TOO_LARGE: {
    meaning: "File too large: it exceeds the output limit.",
    hint: "Read it in parts with offset and limit.",
  },
  TOOL_NOT_A_FILE: { meaning: "The path is not a regular file.", hint: "Use the path of a regular file." },
  TOOL_NOT_A_DIRECTORY: {
    meaning: "A part of the path is not a folder.",
    hint: "Use a path whose parents are folders.",
  },
  TOOL_NOT_TEXT: {
    meaning: "The file is not UTF-8 text.",
    hint: "This tool handles text only; use a command for other files.",
  },
  TOOL_PERMISSION_DENIED: {
    meaning: "The operating system refused the access.",
    hint: "Use a file that this process may use.",
  },
  TOOL_DISK_FULL: { meaning: "The disk is full.", hint: "Free some space, then try again." },
  TOOL_CONTENT_TOO_LARGE: {
    meaning: "Content too large: it exceeds the limit for one write.",
    hint: "Write less at once.",
  },
  TOOL_PATCH_TOO_LARGE: {
    meaning: "Patch too large: it exceeds the limit for one edit.",
    hint: "Split the patch.",
  },
  TOOL_PATCH_FAILED: {
    meaning: "Failed to apply patch: it does not match the file.",
    hint: "Read the file again and make the patch from its present text.",
  },
  TOOL_GREP_FAILED: {
    meaning: "The search itself failed, for example on a malformed pattern or a missing path.",
    hint: "Correct the pattern or the path.",
  },
  TOOL_COMMAND_FAILED: {
    meaning: "The command ended with a non-zero exit code or a signal.",
    hint: "Read its output, then correct the command.",
  },
  TOOL_COMMAND_NOT_FOUND: {
    meaning: "The command does not exist or cannot be run.",
    hint: "Use a command that is installed.",
  },
  TOOL_NETWORK_DISABLED: {
    meaning: "The command uses the network, which is off.",
    hint: "Work without the network.",
  },
  TOOL_GIT_REMOTE_DISABLED: {
    meaning: "The git command uses a remote, and the network is off.",
    hint: "Use local git commands only.",
  },
  TOOL_SANDBOX_UNAVAILABLE: {
    meaning: "Commands cannot be confined here as `isolation` asks, so none is run.",
    hint: 'Install what the message names, or set isolation: "off" to run commands without a sandbox.',
  },
  WORKFLOW_INVALID: {
    meaning: "A workflow's tree cannot be run as it is.",
    hint: "Correct the named node of the workflow.",
  },
  WORKFLOW_INPUT_INVALID: {
    meaning: "The input of a run does not fit the workflow's input schema.",
    hint: "Correct the named fields of the input.",
  },
  WORKFLOW_OUTPUT_INVALID: {
    meaning: "A task's output does not fit its schema.",
    hint: "Return what the schema asks for.",
  },
  WORKFLOW_TASK_FAILED: {
    meaning: "A task failed in all its attempts.",
    hint: "Fix what the message names, then resume the run.",
  },
  WORKFLOW_RUN_EXISTS: {
    meaning: "A run with that id exists.",
    hint: "Resume it, or use another run id.",
  },
  WORKFLOW_RUN_CHANGED: {
    meaning: "The workflow has changed since the run was started.",
    hint: "Accept the changes, or run the version that the run was started with.",
  },
  TOOL_PLATFORM_UNSUPPORTED: {
    meaning: "This operating system, or this version of Node, is not supported.",
    hint: "Use Linux or macOS, and Node 22.13 or later.",
  },
} as const satisfies Record<`${"TOOL" | "WORKFLOW"}_${string}`, { meaning: string; hint: string }>;

export type ErrorCode = keyof typeof ERROR_CODES;

/** A tool may have codes of its own, such as `SHOP_CLOSED`. Editors still suggest ours. */
export type OwnErrorCode = string & {};

/** What a failed try says about the world outside: `"none"` is a promise that nothing happened there. */
export type Effect = "none" | "happened";

export interface ToolwrightErrorOptions {
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  readonly hint?: string | undefined;
  readonly retryable?: boolean | undefined;
  readonly effect?: Effect | undefined;
  readonly cause?: unknown;
  /** What is stored instead, where the message or the hint shows content that must not be, such as lines of a file. */
  readonly logged?: LoggedWords | undefined;
}

export interface LoggedWords {
  readonly message: string;
  readonly hint: string;
}

/** The shape in which every model reads every error. */
export interface ModelError {
  readonly is_error: true;
  readonly error_type: string;
  readonly message: string;
  readonly next_action_hint: string;
  /** What the tool threw had a code or a status of its own, such as `ECONNREFUSED` or 402. */
  readonly code?: string | number;
  readonly status?: string | number;
}

// Recognised by a registered symbol: `instanceof` fails when two copies of the package are loaded.
const MARK = Symbol.for("toolwright.error");

export class ToolwrightError extends Error {
  readonly code: ErrorCode | OwnErrorCode;
  readonly details: Readonly<Record<string, unknown>>;
  readonly hint: string;
  readonly retryable: boolean;
  readonly effect: Effect | undefined;
  /** Not enumerable, since it only says less than the error itself. */
  declare readonly logged: LoggedWords | undefined;
  readonly [MARK] = true;

  constructor(code: ErrorCode | OwnErrorCode, message: string, options: ToolwrightErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "ToolwrightError";
    this.code = code;
    this.details = options.details ?? {};
    this.hint = options.hint ?? ERROR_CODES[isErrorCode(code) ? code : "TOOL_EXECUTION_FAILED"].hint;
    this.retryable = options.retryable ?? false;
    this.effect = options.effect;
    Object.defineProperty(this, "logged", { value: options.logged });
  }

  static is(value: unknown): value is ToolwrightError {
    if (typeof value !== "object" || value === null) return false;
    try {
      return MARK in value;
    } catch {
      // A revoked proxy, for example, cannot even be asked.
      return false;
    }
  }

  toModel(): ModelError {
    // Only what a tool threw has fields of its own; our own details are for the log.
    const { code, status, error_type: ownType } = this.code === "TOOL_EXECUTION_FAILED" ? this.details : {};
    return {
      is_error: true,
      error_type: typeof ownType === "string" ? ownType : this.code.replace(/^TOOL_/, "").toLowerCase(),
      message: this.message,
      next_action_hint: this.hint,
      ...(isShortValue(code) ? { code } : {}),
      ...(isShortValue(status) ? { status } : {}),
    };
  }
}

export function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === "string" && Object.hasOwn(ERROR_CODES, code);
}

function isShortValue(value: unknown): value is string | number {
  return typeof value === "string" || typeof value === "number";
}
