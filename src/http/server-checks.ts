/** Checks of the options of HTTP servers. */
import { isIP } from "node:net";
import { type Check, must, Problem } from "../definition/option-checks.ts";

export const aPort: Check = must(
  (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 65_535,
  "a whole number from 0 to 65535",
);

/** IPv6 is written without brackets here. */
export const aListenAddress: Check = must(
  (value) => typeof value === "string" && (isIP(value) !== 0 || /^[\w.-]+$/.test(value)),
  'an address or host name without scheme and port, such as "127.0.0.1"',
);

export const aHostName: Check = must(
  (value) => typeof value === "string" && /^(\[[\da-f:.]+\]|[\w.-]+)$/i.test(value),
  'a host name or address without a port, such as "ops.example.com"',
);

export const anOrigin: Check = must(isOrigin, 'an origin such as "https://ops.example.com", without a path');

export function isOrigin(value: unknown): boolean {
  return typeof value === "string" && /^https?:\/\/[^/?#@\s]+$/i.test(value);
}

/** A header cannot carry other characters unchanged, so no client could authenticate. */
export function isToken(value: unknown): boolean {
  return typeof value === "string" && /^[\x21-\x7e]+$/.test(value);
}

/** Every refusal says this: the token itself must not be shown. */
export const TOKEN_RULE = "must be a string of ASCII characters without spaces";

export const aToken: Check = (value, field) => {
  if (!isToken(value)) throw new Problem(field, `${TOKEN_RULE}.`);
};
