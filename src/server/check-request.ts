/**
 * Refuses requests that a web page of another site could have made. A page whose name resolves to this machine (DNS
 * rebinding) still sends its own name as Host, so the Host header is checked first, and before any token.
 */
import { HttpError } from "./http-error.ts";

export interface RequestRules {
  /** Host names without ports, lower case. */
  readonly hosts: readonly string[];
  /** Origins that may write besides the server's own, such as `https://ops.example.com`. */
  readonly origins: readonly string[];
}

export const LOOPBACK_HOSTS: readonly string[] = ["127.0.0.1", "localhost", "[::1]"];

/** The host of a request, with its port. @throws HttpError */
export function checkHost(request: Request, { hosts }: RequestRules): string {
  const host = (request.headers.get("host") ?? new URL(request.url).host).toLowerCase();
  if (hosts.includes(hostNameOf(host))) return host;
  throw new HttpError(
    "HTTP_HOST_REFUSED",
    `The host ${JSON.stringify(host.slice(0, 100))} is not allowed.`,
    "Use the address that the server printed, or add the name to allowedHosts (--allowed-host).",
  );
}

/** `""` for anything but a plain name or address with an optional port. */
function hostNameOf(host: string): string {
  return /^(\[[\da-f:.]+\]|[\w.-]+?)\.?(?::\d{1,5})?$/.exec(host)?.[1] ?? "";
}

const SAFE_SITES: ReadonlySet<string> = new Set(["same-origin", "none"]);

/** Programs send neither header. Browsers send both with every write. @throws HttpError */
export function checkOrigin({ headers }: Request, host: string, { origins }: RequestRules): void {
  const origin = headers.get("origin");
  const isListed = origin !== null && origin !== "null" && origins.includes(origin.toLowerCase());
  if (isListed) return;
  if (origin !== null && originHost(origin) !== host) throw refused(`The origin ${shown(origin)}`);
  const site = headers.get("sec-fetch-site");
  if (site !== null && !SAFE_SITES.has(site)) throw refused(`A request with Sec-Fetch-Site ${shown(site)}`);
}

/** A page may use another scheme than this server: a proxy may add TLS. */
function originHost(origin: string): string | undefined {
  return /^https?:\/\/([^/?#@\\]+)$/i.exec(origin)?.[1]?.toLowerCase();
}

function shown(value: string): string {
  return JSON.stringify(value.slice(0, 100));
}

function refused(what: string): HttpError {
  return new HttpError(
    "HTTP_ORIGIN_REFUSED",
    `${what} is not allowed to write here.`,
    "Send it from the server's own page or from a program, or add the origin to allowedOrigins (--allowed-origin).",
  );
}
