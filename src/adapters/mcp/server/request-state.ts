/**
 * The state that a client sends back with the answers of its user: the key of its call, signed with the store's
 * secret. Every server on the store accepts it, and a modified one is refused. It identifies a call and grants
 * nothing.
 */
import { timingSafeEqual } from "node:crypto";
import { hostOf } from "../../../runtime/create-runtime.ts";
import type { Runtime } from "../../../runtime/runtime.ts";
import { keyedHash } from "../../../util/hash.ts";

export async function toRequestState(runtime: Runtime, key: string): Promise<string> {
  return `${await signatureOf(runtime, key)}.${key}`;
}

/** @throws if `toRequestState` did not create the state on this store */
export async function readRequestState(runtime: Runtime, state: string): Promise<string> {
  const [signature = "", ...rest] = state.split(".");
  const key = rest.join(".");
  const expected = Buffer.from(await signatureOf(runtime, key));
  const given = Buffer.from(signature);
  if (given.length === expected.length && timingSafeEqual(given, expected)) return key;
  throw new Error("invalid request state: this server did not issue it");
}

async function signatureOf(runtime: Runtime, key: string): Promise<string> {
  await runtime.ready();
  const { store } = await hostOf(runtime);
  return keyedHash(store.secret, `mcp request state ${key}`);
}
