/**
 * A library whose loop makes calls, as far as it has control flow that passes through tools: exceptions that stop the loop
 * and enter it again later, and objects that tell it where to go next. Types only: an adapter knows the library.
 */
import type { HostValue } from "../util/encode.ts";

export interface HostLoop {
  /**
   * What was thrown out of a tool. `"suspend"`: the loop stops here and makes the call again later, so the call has not
   * ended. A value: the call has ended, and that is stored as its output. `undefined`: a failure of the tool.
   */
  onThrow(thrown: unknown): "suspend" | HostValue | undefined;
  /** Replaces objects of the library by what can be stored. Any other output is returned as it is. */
  pack(output: unknown): unknown;
  /** Rebuilds what `pack` or `onThrow` made. May throw what was thrown. */
  unpack(value: HostValue): unknown;
  /** Stored when the call ends or is suspended: for `onReplay`, or for `onEnter` when the call is entered again. */
  mark?(state: "ended" | "suspended"): string | undefined;
  /** The outcome is returned without running the tool. */
  onReplay?(mark: string): void;
  /** The tool is about to run: for the first time, or again after it was suspended with this mark. */
  onEnter?(entry: {
    readonly mark: string | undefined;
    readonly isApproved: boolean;
  }): void | PromiseLike<void>;
}
