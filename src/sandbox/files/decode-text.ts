/**
 * Converts bytes to text and back without loss. It must never replace a byte by U+FFFD: an edit would then change
 * text that it did not touch.
 */
import { isUtf8 } from "node:buffer";
import { fileError } from "./file-error.ts";

/** A byte order mark stays in the text, so that writing it back preserves it. */
export function decodeText(bytes: Buffer, shown: string): string {
  if (!isUtf8(bytes)) throw fileError("TOOL_NOT_TEXT", `The file is not UTF-8 text: ${shown}.`);
  return bytes.toString("utf8");
}

/** `what` names the argument in messages. */
export function encodeText(text: unknown, what: string): Buffer {
  if (typeof text !== "string") {
    throw fileError("TOOL_INPUT_INVALID", `The ${what} must be a string; it is ${typeof text}.`);
  }
  if (!text.isWellFormed()) {
    throw fileError("TOOL_NOT_TEXT", `The ${what} contains a lone surrogate, which is not text.`, {
      hint: `Send the ${what} again with whole characters.`,
    });
  }
  return Buffer.from(text, "utf8");
}
