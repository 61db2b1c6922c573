/** Who is signed in, and what they may do. Read once: it does not change while the server runs. */
import { signal } from "@preact/signals";
import { get } from "./api.ts";
import type { Session } from "./types.ts";

export const session = signal<Session | undefined>(undefined);

export async function readSession(): Promise<void> {
  try {
    session.value = await get<Session>("session");
  } catch {
    // The view itself reports a server that does not answer, or a session that has ended.
  }
}

/** `true` until the session is known: the server decides in any case. */
export function may(scope: Session["scopes"][number]): boolean {
  return session.value?.scopes.includes(scope) ?? true;
}
