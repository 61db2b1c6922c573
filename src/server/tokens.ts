/**
 * Who sent a request: a bearer token, or the session cookie of a browser that opened the sign-in link. Tokens, codes and
 * sessions are kept and compared as digests, and never appear in a log or an error.
 */
import { randomBytes, timingSafeEqual } from "node:crypto";
import { sha256 } from "../util/hash.ts";

export const SCOPES = ["read", "decide", "operate"] as const;
export type Scope = (typeof SCOPES)[number];

export interface ServerToken {
  /** Recorded as `decidedBy` of the decisions that are made with this token. */
  readonly name: string;
  /** Printable ASCII without spaces. */
  readonly token: string;
  readonly scopes: readonly Scope[];
}

export interface Caller {
  readonly name: string;
  readonly scopes: readonly Scope[];
}

/** The name of the token that a server generates, or reads from the environment. */
export const OPERATOR = "operator";
const BROWSER = "browser";

/** An unused code in a log is as good as a session, so it expires. */
const CODE_LIFE_MS = 60 * 60 * 1_000;
const SESSION_LIFE_MS = 7 * 24 * 60 * 60 * 1_000;
const MOST_SECRETS = 1_000;

interface Secret {
  readonly digest: Buffer;
  readonly expiresAtMs: number;
  /** Who the holder of the secret is. */
  readonly caller: Caller;
}

export class Tokens {
  readonly #tokens: readonly { readonly digest: Buffer; readonly caller: Caller }[];
  readonly #browser: Caller;
  #codes: readonly Secret[] = [];
  #sessions: readonly Secret[] = [];

  constructor(tokens: readonly ServerToken[]) {
    this.#tokens = tokens.map(({ name, token, scopes }) => ({
      digest: digestOf(token),
      caller: { name, scopes },
    }));
    this.#browser = { name: BROWSER, scopes: tokens[0]?.scopes ?? [] };
  }

  /** @param authorization the value of the header, or `null` @param session the value of the cookie, if any */
  identify(authorization: string | null, session: string | undefined): Caller | undefined {
    // A wrong token is refused even if the cookie is valid: the client has made a mistake.
    if (authorization !== null) return this.#callerOf(authorization);
    return session === undefined ? undefined : findSecret(this.#sessions, session)?.caller;
  }

  /** A code for one sign-in. @param caller who the browser acts for. Default: itself, with the scopes of the first token */
  createCode(caller: Caller = this.#browser): string {
    const { text, secret } = newSecret(CODE_LIFE_MS, caller);
    this.#codes = [...this.#codes.filter(isValid), secret].slice(-MOST_SECRETS);
    return text;
  }

  /** Exchanges a code for a session, once. */
  signIn(code: string): string | undefined {
    const found = findSecret(this.#codes, code);
    if (found === undefined) return undefined;
    this.#codes = this.#codes.filter((one) => one !== found);
    const { text, secret } = newSecret(SESSION_LIFE_MS, found.caller);
    this.#sessions = [...this.#sessions.filter(isValid), secret].slice(-MOST_SECRETS);
    return text;
  }

  #callerOf(authorization: string): Caller | undefined {
    const given = digestOf(/^Bearer +(\S+)$/i.exec(authorization)?.[1] ?? "");
    return this.#tokens.find(({ digest }) => timingSafeEqual(digest, given))?.caller;
  }
}

function newSecret(lifeMs: number, caller: Caller): { readonly text: string; readonly secret: Secret } {
  const text = createToken();
  return { text, secret: { digest: digestOf(text), expiresAtMs: Date.now() + lifeMs, caller } };
}

export function createToken(): string {
  return randomBytes(32).toString("base64url");
}

function findSecret(secrets: readonly Secret[], given: string): Secret | undefined {
  const digest = digestOf(given);
  return secrets.find((one) => timingSafeEqual(one.digest, digest) && isValid(one));
}

function isValid({ expiresAtMs }: Secret): boolean {
  return expiresAtMs > Date.now();
}

/** Digests have one length, so the comparison does not reveal the length of the secret. */
function digestOf(text: string): Buffer {
  return Buffer.from(sha256(text));
}
