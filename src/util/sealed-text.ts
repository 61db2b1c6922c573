/** Encrypts bytes with the secret of a store: data that the log must not show is not readable in the database either. */
import { createHash } from "node:crypto";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { decryptBytes, encryptBytes } from "./encrypted-bytes.ts";

export function sealBytes(secret: string, bytes: Uint8Array): string {
  return encryptBytes(keyFrom(secret), deflateRawSync(bytes)).toString("base64");
}

/** @throws if the text was changed, or sealed with another secret */
export function openSealed(secret: string, text: string): Buffer {
  return inflateRawSync(decryptBytes(keyFrom(secret), Buffer.from(text, "base64")));
}

function keyFrom(secret: string): Buffer {
  return createHash("sha256").update(`toolwright sealed ${secret}`).digest();
}
