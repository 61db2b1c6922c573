/** The sign-in link: works once, and gives the browser a cookie that scripts and other sites cannot use. */
import { HttpError } from "./http-error.ts";
import { NOT_STORED } from "./security-headers.ts";
import type { Tokens } from "./tokens.ts";

export const SIGN_IN_PATH = "/sign-in";

export function signInPath(code: string): string {
  return `${SIGN_IN_PATH}?code=${code}`;
}

/**
 * Leads to the page, or to one run with `&run=<id>`. It takes no address to go to: a link must not lead elsewhere.
 * @param host with its port @param home where the page is @throws HttpError
 */
export function signIn(request: Request, tokens: Tokens, host: string, home: string): Response {
  const url = new URL(request.url);
  // HEAD must not use up the link: some programs look at a link before they show it.
  const session = request.method === "GET" ? tokens.signIn(url.searchParams.get("code") ?? "") : undefined;
  if (session === undefined) {
    throw new HttpError(
      "HTTP_UNAUTHORIZED",
      "This sign-in link is not valid: it works once, and expires after an hour.",
      `A browser that is signed in opens ${home} instead. For a new link, start the server again, or send POST /api/v1/sign-in-links with a token.`,
    );
  }
  const run = url.searchParams.get("run") ?? "";
  const secure = url.protocol === "https:" ? "; Secure" : "";
  return new Response(null, {
    status: 303,
    headers: {
      location: run === "" ? home : `${home}runs/${encodeURIComponent(run)}`,
      "set-cookie": `${cookieName(host)}=${session}; HttpOnly; SameSite=Strict; Path=/${secure}`,
      ...NOT_STORED,
    },
  });
}

/** Cookies ignore ports: without one in the name, two servers on this machine would sign each other out. */
export function cookieName(host: string): string {
  return `toolwright-${/:(\d+)$/.exec(host)?.[1] ?? "session"}`;
}

export function sessionOf(request: Request, host: string): string | undefined {
  const name = `${cookieName(host)}=`;
  const cookies = (request.headers.get("cookie") ?? "").split(";").map((one) => one.trim());
  return cookies.find((one) => one.startsWith(name))?.slice(name.length);
}
