/** Short digests for keys. URL-safe, 43 characters. */
import { createHmac, hash } from "node:crypto";

export function sha256(text: string): string {
  return hash("sha256", text, "base64url");
}

/** The parts are length-prefixed by JSON, so that no two different lists give one digest. */
export function digest(parts: readonly (string | number)[]): string {
  return sha256(JSON.stringify(parts));
}

export function keyedHash(secret: string, text: string): string {
  return createHmac("sha256", secret).update(text).digest("base64url");
}
