/** Refuses requests from web pages and requests without the token. */
import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { validateHostHeader, validateOriginHeader } from "@modelcontextprotocol/server";
import { sha256 } from "../../../util/hash.ts";

export interface RequestRules {
  /** `undefined`: no token is required. */
  readonly token: string | undefined;
  /** Host names without ports, lower case. */
  readonly hosts: readonly string[];
  /** Origins, or their host names, lower case. */
  readonly origins: readonly string[];
}

export interface Refusal {
  readonly status: number;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * `undefined` accepts the request. Host and origin are checked first: DNS rebinding must not reveal whether a token
 * is valid.
 */
export function refusalOf({ headers }: IncomingMessage, rules: RequestRules): Refusal | undefined {
  const host = validateHostHeader(headers.host, [...rules.hosts]);
  if (!host.ok) return { status: 403, message: host.message };
  const origin = validateOriginHeader(headers.origin, [...rules.origins]);
  if (!origin.ok && !rules.origins.includes(headers.origin?.toLowerCase() ?? ""))
    return { status: 403, message: origin.message };
  if (rules.token === undefined || isToken(headers.authorization, rules.token)) return undefined;
  return {
    status: 401,
    message: "A bearer token is required: Authorization: Bearer <token>.",
    headers: { "WWW-Authenticate": 'Bearer realm="toolwright"' },
  };
}

/** Constant time: compares digests, so that the length of the token does not matter either. */
function isToken(header: string | undefined, token: string): boolean {
  const given = /^Bearer +(\S+)$/i.exec(header ?? "")?.[1] ?? "";
  return timingSafeEqual(Buffer.from(sha256(given)), Buffer.from(sha256(token)));
}
