/**
 * The one error class and the one table of codes. Every failure uses them, so that the log, the model and the caller read
 * the same text.
 */

/** Every code with its meaning. `hint` tells the model what to do next; an error may carry a more specific one. */
export const ERROR_CODES = {
  TOOL_DEFINITION_INVALID: {
    meaning: "A tool was defined with an option that is missing, unknown or contradictory.",
    hint: "Fix the definition of the tool; the message names the option.",
  },
  TOOL_SCHEMA_UNREPRESENTABLE: {
    meaning: "A schema contains a type that JSON Schema cannot express, so it cannot be sent to a model.",
    hint: "Replace the type of the named field as the message says.",
  },
  TOOL_ALREADY_REGISTERED: {
    meaning: "A second tool with the same name was registered.",
    hint: "Rename one of the tools, or put it in a separate registry.",
  },
  TOOL_NOT_FOUND: {
    meaning: "No tool with that name is available.",
    hint: "Call one of the available tools.",
  },
  TOOL_CHANGED: {
    meaning: "A tool of a remote server differs from the version that was pinned. Nothing was run.",
    hint: "Use another tool, and report that this one has changed. It must be reviewed and pinned again.",
  },
  TOOL_PACKAGE_CONFLICT: {
    meaning: "Two Toolwright versions were used together in one process. Nothing was run.",
    hint: "Install one version: `npm ls toolwright` shows which packages depend on another one.",
  },
  TOOL_INPUT_INVALID: {
    meaning: "The arguments do not match the tool's input schema. Nothing was run.",
    hint: "Correct the named fields and call the tool again.",
  },
  TOOL_INPUT_REDACTED: {
    meaning: "An argument contains a redaction mark instead of a value. Nothing was run.",
    hint: "Pass the real value; the mark only replaces it in logs.",
  },
  TOOL_OUTPUT_INVALID: {
    meaning: "The tool ran, but its output does not match its output schema or cannot be stored.",
    hint: "The effect has happened: do not repeat the call. Check the result another way.",
  },
  TOOL_EXECUTION_FAILED: {
    meaning: "The tool threw an error.",
    hint: "Read the message, then change the arguments or try another approach.",
  },
  TOOL_TIMEOUT: {
    meaning: "A try of the tool timed out.",
    hint: "Request less at once, or check whether the effect has happened before you repeat the call.",
  },
  TOOL_ABORTED: {
    meaning: "The call was cancelled because its run or task was aborted.",
    hint: "The run was stopped. Make no further calls in it.",
  },
  TOOL_LIMIT_EXCEEDED: {
    meaning: "A limit of the run or of the tool was exceeded. Nothing was run.",
    hint: "Do not call this tool again in this run; finish with what you have.",
  },
  TOOL_CIRCUIT_OPEN: {
    meaning: "The tool failed too often in a row, and its circuit breaker is open. Nothing was run.",
    hint: "Do not call this tool again in this run; use another approach or report the failure.",
  },
  TOOL_APPROVAL_REQUIRED: {
    meaning:
      "The tool needs approval, which can be requested only inside a run, and not for tools of other libraries. Nothing was run.",
    hint: "Call the tool inside a run of a runtime.",
  },
  TOOL_APPROVAL_PENDING: {
    meaning: "The call waits for approval, or for an answer about an interrupted call. Nothing was run.",
    hint: "Wait for the decision, then make the same call again.",
  },
  TOOL_APPROVAL_DENIED: {
    meaning: "The call was denied, or an interrupted call was given up. Nothing was run.",
    hint: "Do not repeat the call; use another approach or ask the user.",
  },
  TOOL_APPROVAL_EXPIRED: {
    meaning: "The request expired before a decision. Nothing was run.",
    hint: "Continue without this call, or report that the request expired.",
  },
  TOOL_APPROVAL_NOT_FOUND: {
    meaning: "There is no approval request with that id.",
    hint: "List the pending requests and use one of their ids.",
  },
  TOOL_APPROVAL_SETTLED: {
    meaning: "The approval request already has a decision.",
    hint: "A decision cannot be changed; do nothing more.",
  },
  TOOL_APPROVAL_MISMATCH: {
    meaning:
      "The decision was made for different arguments or for another version of the tool. Nothing was run.",
    hint: "Request approval again: the request must show what would run now.",
  },
  TOOL_OUTCOME_UNKNOWN: {
    meaning: "An earlier call was interrupted or failed, and its effect is in doubt. Nothing was run.",
    hint: "Verify the external state first. If the effect is missing, call the tool once more.",
  },
  TOOL_IDEMPOTENCY_CONFLICT: {
    meaning: "The business key was already used with different arguments. Nothing was run.",
    hint: "Use the result of the earlier call, or another business key.",
  },
  TOOL_CALL_CYCLE: {
    meaning:
      "A call would wait for itself: an enclosing call, or a call that waits for it, holds the same business key or is the same call.",
    hint: "Do not call the tool from inside itself with the same key, and do not let two calls wait for each other's keys.",
  },
  TOOL_ATTEMPT_STALE: {
    meaning: "The call belongs to an attempt that a later attempt has replaced. Nothing was run.",
    hint: "This attempt is over. Make no further calls in it.",
  },
  TOOL_RUN_CONFLICT: {
    meaning: "The same task of the same run is already open elsewhere.",
    hint: "Wait until it has ended, or use another run id.",
  },
  TOOL_RUN_DELETED: {
    meaning:
      "Retention deleted the run, so its id cannot be used again, or the responses that it resumes from.",
    hint: "Start a new run with a new id.",
  },
  TOOL_RUN_REVERTED: {
    meaning: "The effects of the run were reverted, so it cannot be resumed. Nothing was run.",
    hint: "Fork the run to try again from an earlier task, or start another run.",
  },
  TOOL_FORK_INVALID: {
    meaning: "The run cannot be forked in this way. Nothing was changed.",
    hint: "Choose another task or call for `at`, as the message says.",
  },
  TOOL_RESULT_DELETED: {
    meaning:
      "The call, or one with the same business key, ran before, and retention deleted its result. Nothing was run.",
    hint: "Look up the result where the effect happened, or use another business key.",
  },
  TOOL_STREAM_LOST: {
    meaning:
      "A reader of a stream was too slow, or did not answer for a minute: parts that it had not read were deleted at the end of their task.",
    hint: "Read the result of the run instead; in a chat, send the same message again.",
  },
  TOOL_RUN_TAKEN: {
    meaning:
      "The run id belongs to a run that was started with a different input, or that waits for a worker.",
    hint: "Use another run id, or send the input that the run was started with.",
  },
  TOOL_RUN_FENCED: {
    meaning: "Another process has taken over this run, so this one can no longer write to it.",
    hint: "This process lost the run; the other one continues it.",
  },
  TOOL_RUNTIME_CLOSED: {
    meaning: "The runtime was disposed and accepts no more calls.",
    hint: "Create a new runtime.",
  },
  TOOL_RUNTIME_REQUIRED: {
    meaning: "The tool needs the store of a runtime, and was called outside any runtime. Nothing was run.",
    hint: "Use runtime.call(tool, args), or call the tool inside runtime.run({ runId }, work).",
  },
  TOOL_STORE_FAILED: {
    meaning:
      "The store could not be read or written, so the call was stopped. Results are only reported once they are stored.",
    hint: "Fix the problem that the message names, then resume the run: it continues from the last stored call.",
  },
  TOOL_STORE_VERSION: {
    meaning: "The store was written by a newer version of Toolwright. Nothing in it was changed.",
    hint: "Use the newer version, or another store.",
  },
  TOOL_STORE_DAMAGED: {
    meaning: "The store's file is damaged or is not a database. Nothing in it was changed.",
    hint: "Restore the file from a backup, or use another path.",
  },
  TOOL_RUN_NOT_FOUND: {
    meaning: "There is no run with that id in this store.",
    hint: "Check the run id and the store.",
  },
  TOOL_CALL_NOT_FOUND: {
    meaning: "There is no call with that key and attempt in this store.",
    hint: "List the calls of its run.",
  },
  TOOL_MODEL_FAILED: {
    meaning: "The request to an agent's model failed, or its response cannot be used.",
    hint: "Invoke again with the same run id: it continues from the last stored response.",
  },
  TOOL_OPTION_INVALID: {
    meaning: "An option is unknown, missing or has an invalid value.",
    hint: "Correct the named option.",
  },
  TOOL_PATH_ESCAPE: {
    meaning: "The path leads outside the sandbox root.",
    hint: "Use a path inside the root.",
  },
  TOOL_PATH_INVALID: {
    meaning: "The path is empty, too long or contains an invalid character.",
    hint: "Use a plain relative path.",
  },
  TOOL_PATH_PROTECTED: {
    meaning: "The path belongs to Toolwright or to git, and tools cannot change it.",
    hint: "Use another file.",
  },
  TOOL_FILE_NOT_FOUND: {
    meaning: "There is no file or folder at that path.",
    hint: "Look for the right path first, for example with grep.",
  },
  TOOL_PATH_CONFLICT: {
    meaning: "A context item already exists at that drive and path. Nothing was written.",
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
    meaning: "The operating system denied access.",
    hint: "Use a file that this process has access to.",
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
    hint: "Read the file again and create the patch from its current text.",
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
    meaning: "The command uses the network, and network access is off.",
    hint: "Work without the network.",
  },
  TOOL_GIT_REMOTE_DISABLED: {
    meaning: "The git command uses a remote, and the network is off.",
    hint: "Use local git commands only.",
  },
  TOOL_SANDBOX_UNAVAILABLE: {
    meaning: "The sandbox that `isolation` requires is not available, so no command is run.",
    hint: 'Install the package that the message names, or set isolation: "off" to run commands without a sandbox.',
  },
  WORKFLOW_INVALID: {
    meaning: "The tree of a workflow is invalid.",
    hint: "Correct the named node of the workflow.",
  },
  WORKFLOW_INPUT_INVALID: {
    meaning: "The input of a run does not match the workflow's input schema.",
    hint: "Correct the named fields of the input.",
  },
  WORKFLOW_OUTPUT_INVALID: {
    meaning: "A task's output does not match its schema.",
    hint: "Return a value that matches the schema.",
  },
  WORKFLOW_TASK_FAILED: {
    meaning: "All attempts of a task failed.",
    hint: "Fix the problem that the message names, then resume the run.",
  },
  WORKFLOW_SIGNAL_INVALID: {
    meaning:
      "The payload of a signal does not match the schema of the task that waits for it. Nothing was stored.",
    hint: "Send the signal again with a payload that matches; the message names the fields.",
  },
  WORKFLOW_SIGNAL_TIMEOUT: {
    meaning: "A task waited for a signal, and it did not arrive in time.",
    hint: 'Resume the run to wait again, or set onTimeout="continue" to continue without the signal.',
  },
  WORKFLOW_RUN_OVER: {
    meaning: "The run has ended, so it takes no more signals. Nothing was stored.",
    hint: "Start another run, or resume a stopped run first.",
  },
  WORKFLOW_SCHEDULE_NOT_FOUND: {
    meaning: "There is no schedule with that name in this store.",
    hint: "List the schedules and use one of their names.",
  },
  WORKFLOW_RUN_EXISTS: {
    meaning: "A run with that id already exists.",
    hint: "Resume it, or use another run id.",
  },
  WORKFLOW_RUN_CHANGED: {
    meaning: "The workflow has changed since the run was started.",
    hint: "Accept the changes, or run the version that the run was started with.",
  },
  WORKFLOW_CRASH_LOOP: {
    meaning: "Several workers in a row died while they ran this run, without any progress in between.",
    hint: "Find out why the process dies (memory, a native crash, an endless loop), fix it, then resume the run.",
  },
  WORKFLOW_UNKNOWN: {
    meaning: "There is no workflow, agent or program with this name.",
    hint: "Check the spelling, or register the name with createWorker or in toolwright.config.",
  },
  TOOL_RUN_NOT_RECORDED: {
    meaning:
      "The run cannot be recorded: it has not ended, or the data that a replay needs was deleted when it ended.",
    hint: 'Start runs with createRuntime({ recording: "keep" }), or with recording: "keep" in toolwright.config.',
  },
  TOOL_FIXTURE_INVALID: {
    meaning: "The fixture of a run cannot be used: it is incomplete, was edited, or is from a newer version.",
    hint: "Record the run again, with `toolwright record <run-id> --out x.fixture.json`.",
  },
  TOOL_REPLAY_DIFFERS: {
    meaning: "A replay made a call or a request that the recorded run did not make. Nothing was run.",
    hint: "Compare the code with the recorded run: the differences name the task and the field.",
  },
  TOOL_PLATFORM_UNSUPPORTED: {
    meaning: "This operating system, or this Node version, is not supported.",
    hint: "Use Linux or macOS, and Node 22.13 or later.",
  },
} as const satisfies Record<`${"TOOL" | "WORKFLOW"}_${string}`, { meaning: string; hint: string }>;

export type ErrorCode = keyof typeof ERROR_CODES;

/** The page that describes every code, in the published package. This is the only place that names it. */
const REFERENCE = "https://unpkg.com/toolwright/docs/reference/errors.md";

/** The description of a code. `undefined` for a tool's own code. */
export function errorLink(code: string): string | undefined {
  return isErrorCode(code) ? `${REFERENCE}#${code.toLowerCase()}` : undefined;
}

/** A tool may define its own codes, such as `SHOP_CLOSED`. The intersection keeps ours in the editor's suggestions. */
export type OwnErrorCode = string & {};

/** A failed try's external effect: `"none"` guarantees that nothing happened. */
export type Effect = "none" | "happened";

export interface ToolwrightErrorOptions {
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  readonly hint?: string | undefined;
  readonly retryable?: boolean | undefined;
  readonly effect?: Effect | undefined;
  readonly cause?: unknown;
  /** Stored instead of the message and the hint if those show content that must not be logged, such as lines of a file. */
  readonly logged?: LoggedWords | undefined;
}

export interface LoggedWords {
  readonly message: string;
  readonly hint: string;
}

/** The JSON that models read for every error. */
export interface ModelError {
  readonly is_error: true;
  readonly error_type: string;
  readonly message: string;
  readonly next_action_hint: string;
  /** The code and status of the error that the tool threw, such as `ECONNREFUSED` or 402. */
  readonly code?: string | number;
  readonly status?: string | number;
}

// Recognised by a registered symbol: `instanceof` fails when two copies of the package are loaded.
const MARK = Symbol.for("toolwright.error");
// Node prints fields with symbols too. The named fields of an error are part of stored keys, so there is none for the link.
const LINK = Symbol.for("toolwright.docs");

export class ToolwrightError extends Error {
  readonly code: ErrorCode | OwnErrorCode;
  readonly details: Readonly<Record<string, unknown>>;
  readonly hint: string;
  readonly retryable: boolean;
  readonly effect: Effect | undefined;
  /** Not enumerable: it only repeats the error with less detail. */
  declare readonly logged: LoggedWords | undefined;
  readonly [MARK] = true;
  declare [LINK]?: string;

  constructor(code: ErrorCode | OwnErrorCode, message: string, options: ToolwrightErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "ToolwrightError";
    this.code = code;
    this.details = options.details ?? {};
    this.hint = options.hint ?? ERROR_CODES[isErrorCode(code) ? code : "TOOL_EXECUTION_FAILED"].hint;
    this.retryable = options.retryable ?? false;
    this.effect = options.effect;
    Object.defineProperty(this, "logged", { value: options.logged });
    const link = errorLink(code);
    if (link !== undefined) this[LINK] = link;
  }

  /** The address of the description of this code. `undefined` for a tool's own code. */
  get docs(): string | undefined {
    return this[LINK];
  }

  static is(value: unknown): value is ToolwrightError {
    if (typeof value !== "object" || value === null) return false;
    try {
      return MARK in value;
    } catch {
      // A revoked proxy, for example, throws on `in`.
      return false;
    }
  }

  toModel(): ModelError {
    // The model reads only fields of the tool's own error. Our own details are for the log.
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
