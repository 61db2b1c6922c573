/** Texts that only the holder of a key can read. A process with the public half can write them, and cannot read them again. */
import { createECDH, hkdfSync } from "node:crypto";
import { decryptBytes, encryptBytes } from "./encrypted-bytes.ts";

const CURVE = "prime256v1";
const PUBLIC_KEY_BYTES = 65;

/** The private half never leaves this object. */
export class PrivateKey {
  readonly #ecdh = createECDH(CURVE);
  readonly publicKey = this.#ecdh.generateKeys("base64");

  /** @throws if the text was made for another key, or was changed */
  open(text: string): string {
    const bytes = Buffer.from(text, "base64");
    const sender = bytes.subarray(0, PUBLIC_KEY_BYTES);
    const key = sharedKey(this.#ecdh.computeSecret(sender), sender);
    return decryptBytes(key, bytes.subarray(PUBLIC_KEY_BYTES)).toString("utf8");
  }
}

/** Each text has its own sender. */
export function encryptFor(publicKey: string, text: string): string {
  const ecdh = createECDH(CURVE);
  const sender = ecdh.generateKeys();
  const key = sharedKey(ecdh.computeSecret(publicKey, "base64"), sender);
  return Buffer.concat([sender, encryptBytes(key, Buffer.from(text))]).toString("base64");
}

function sharedKey(secret: Buffer, sender: Buffer): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", secret, sender, "toolwright private text 1", 32));
}
