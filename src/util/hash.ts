/** Short digests for keys. URL-safe, 43 characters. */
import type * as Crypto from "node:crypto";

// Loaded by the first digest: most programs that import this package make none before their first call.
let crypto: typeof Crypto | undefined;
const load = (): typeof Crypto => (crypto ??= process.getBuiltinModule("node:crypto"));

export function sha256(text: string): string {
  return (crypto ?? load()).hash("sha256", text, "base64url");
}

/** As others print it. */
export function sha256Hex(text: string): string {
  return (crypto ?? load()).hash("sha256", text, "hex");
}

/** The parts are length-prefixed by JSON, so that no two different lists give one digest. */
export function digest(parts: readonly (string | number)[]): string {
  return sha256(JSON.stringify(parts));
}

export function keyedHash(secret: string, text: string): string {
  return (crypto ?? load()).createHmac("sha256", secret).update(text).digest("base64url");
}
