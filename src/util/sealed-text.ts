/** Encrypts bytes with the secret of a store: what the log must not show is not readable in the database either. */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import { deflateRawSync, inflateRawSync } from "node:zlib";

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export function sealBytes(secret: string, bytes: Uint8Array): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv("aes-256-gcm", keyFrom(secret), nonce);
  const sealed = Buffer.concat([cipher.update(deflateRawSync(bytes)), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString("base64");
}

/** @throws if the text was changed, or sealed with another secret */
export function openSealed(secret: string, text: string): Buffer {
  const whole = Buffer.from(text, "base64");
  const decipher = createDecipheriv("aes-256-gcm", keyFrom(secret), whole.subarray(0, NONCE_BYTES));
  decipher.setAuthTag(whole.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  const sealed = whole.subarray(NONCE_BYTES + TAG_BYTES);
  return inflateRawSync(Buffer.concat([decipher.update(sealed), decipher.final()]));
}

function keyFrom(secret: string): Buffer {
  return createHash("sha256").update(`toolwright sealed ${secret}`).digest();
}
