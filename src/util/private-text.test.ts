import { expect, test } from "vitest";
import { encryptFor, PrivateKey } from "./private-text.ts";

test("only the holder of the key reads the text, and a changed one is refused", () => {
  const key = new PrivateKey();
  const sealed = encryptFor(key.publicKey, "Grüße 🍏");
  expect(key.open(sealed)).toBe("Grüße 🍏");
  expect(key.open(encryptFor(key.publicKey, ""))).toBe("");
  expect(Buffer.from(sealed, "base64").includes("Gr")).toBe(false);
  expect(encryptFor(key.publicKey, "Grüße 🍏")).not.toBe(sealed);
  expect(() => new PrivateKey().open(sealed)).toThrow();
  const changed = Buffer.from(sealed, "base64");
  changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1;
  expect(() => key.open(changed.toString("base64"))).toThrow();
});
