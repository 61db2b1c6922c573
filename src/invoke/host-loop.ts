/**
 * A library whose loop makes calls and whose control flow passes through tools: exceptions that suspend the loop, and objects
 * that name its next step. Types only: an adapter implements it.
 */
import type { HostValue } from "../util/encode.ts";

export interface HostLoop {
  /**
   * Classifies what a tool threw. `"suspend"`: the loop stops and makes the call again later, so the call has not ended. A
   * value: the call has ended with this output. `undefined`: the tool failed.
   */
  onThrow(thrown: unknown): "suspend" | HostValue | undefined;
  /** Replaces objects of the library by storable values. Any other output is returned as it is. */
  pack(output: unknown): unknown;
  /** Rebuilds the object from a value of `pack` or `onThrow`. May throw the tool's own error. */
  unpack(value: HostValue): unknown;
  /** Returns a mark that is stored when the call ends or is suspended: for `onReplay`, or for `onEnter` on re-entry. */
  mark?(state: "ended" | "suspended"): string | undefined;
  /** The stored outcome is returned without running the tool. */
  onReplay?(mark: string): void;
  /** The tool is about to run: for the first time, or again after it was suspended with this mark. */
  onEnter?(entry: {
    readonly mark: string | undefined;
    readonly isApproved: boolean;
  }): void | PromiseLike<void>;
}
