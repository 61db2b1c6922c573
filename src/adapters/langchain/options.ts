/** What `toLangChainTools` takes. A wrong option is refused when the tools are made. */
import type { Approval } from "../../invoke/approval.ts";
import { refusal } from "../../runtime/options.ts";

export interface LangChainToolOptions {
  /**
   * Called when a call waits for approval. What it throws ends the loop, as LangGraph's `interrupt` does; when the graph is
   * resumed and the request is still not decided, the graph stops again.
   */
  readonly onPending?: ((approval: Approval) => unknown) | undefined;
  /**
   * What becomes of a failure: `"message"` (default) answers the model with a tool message of status `error`; `"throw"`
   * throws it, for `toolRetryMiddleware`, `handleToolErrors` and retry policies of nodes. Calls that wait or were denied are
   * always answers.
   */
  readonly errors?: "message" | "throw" | undefined;
  /** `"content_and_artifact"`: the tools return a pair of content, for the model, and artifact, for the program. */
  readonly responseFormat?: "content" | "content_and_artifact" | undefined;
}

const CHOICES = {
  errors: ["message", "throw"],
  responseFormat: ["content", "content_and_artifact"],
} as const;

const NAMES = ["onPending", "errors", "responseFormat"] satisfies (keyof LangChainToolOptions)[];

export function checkToolOptions(options: LangChainToolOptions): void {
  const unknown = Object.keys(options).find((name) => !(NAMES as string[]).includes(name));
  if (unknown !== undefined) {
    throw refusal(unknown, `is not an option of toLangChainTools. It takes ${NAMES.join(", ")}`);
  }
  if (options.onPending !== undefined && typeof options.onPending !== "function") {
    throw refusal("onPending", "must be a function");
  }
  for (const name of ["errors", "responseFormat"] as const) {
    const value: unknown = options[name];
    const choices: readonly unknown[] = CHOICES[name];
    if (value !== undefined && !choices.includes(value)) {
      throw refusal(name, `must be ${CHOICES[name].map((choice) => `"${choice}"`).join(" or ")}`);
    }
  }
}
