/** AES-256-GCM: the nonce, the tag and the encrypted bytes in one. */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

const CIPHER = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export function encryptBytes(key: Uint8Array, bytes: Uint8Array): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce);
  const encrypted = Buffer.concat([cipher.update(bytes), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), encrypted]);
}

/** @throws if the bytes were changed, or encrypted with another key */
export function decryptBytes(key: Uint8Array, whole: Uint8Array): Buffer {
  const decipher = createDecipheriv(CIPHER, key, whole.subarray(0, NONCE_BYTES));
  decipher.setAuthTag(whole.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  return Buffer.concat([decipher.update(whole.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
}
