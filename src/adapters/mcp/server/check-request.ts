/** Who may talk to a server on this machine: no page of the web, and nobody without the token. */
import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { validateHostHeader, validateOriginHeader } from "@modelcontextprotocol/server";
import { sha256 } from "../../../util/hash.ts";

export interface RequestRules {
  /** `undefined`: none is asked for. */
  readonly token: string | undefined;
  /** Names without ports. */
  readonly hosts: readonly string[];
  readonly origins: readonly string[];
}

export interface Refusal {
  readonly status: number;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** `undefined` lets it in. Names come first: a page that was led here by a changed name learns nothing of the token. */
export function refusalOf({ headers }: IncomingMessage, rules: RequestRules): Refusal | undefined {
  const host = validateHostHeader(headers.host, [...rules.hosts]);
  if (!host.ok) return { status: 403, message: host.message };
  const origin = validateOriginHeader(headers.origin, [...rules.origins]);
  if (!origin.ok) return { status: 403, message: origin.message };
  if (rules.token === undefined || isToken(headers.authorization, rules.token)) return undefined;
  return {
    status: 401,
    message: "A bearer token is needed: Authorization: Bearer <token>.",
    headers: { "WWW-Authenticate": 'Bearer realm="toolwright"' },
  };
}

/** Takes the same time for every wrong token: digests are compared, so that lengths do not matter either. */
function isToken(header: string | undefined, token: string): boolean {
  const given = /^Bearer +(\S+)$/i.exec(header ?? "")?.[1] ?? "";
  return timingSafeEqual(Buffer.from(sha256(given)), Buffer.from(sha256(token)));
}
