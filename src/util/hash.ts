/** Short digests for keys. URL-safe, 43 characters. */
import type * as Crypto from "node:crypto";

// Loaded by the first digest, so that importing the package does not pay for it.
let crypto: typeof Crypto | undefined;
const load = (): typeof Crypto => (crypto ??= process.getBuiltinModule("node:crypto"));

export function sha256(text: string): string {
  return (crypto ?? load()).hash("sha256", text, "base64url");
}

/** In hex, as most other programs print it. */
export function sha256Hex(text: string): string {
  return (crypto ?? load()).hash("sha256", text, "hex");
}

/** JSON delimits the parts, so different lists never have the same text. */
export function digest(parts: readonly (string | number)[]): string {
  return sha256(JSON.stringify(parts));
}

export function keyedHash(secret: string, text: string): string {
  return (crypto ?? load()).createHmac("sha256", secret).update(text).digest("base64url");
}
