/**
 * What a client sends back with the answers of its user: the key of its call, signed with the store's secret, so that every
 * server on the store takes it and a changed one is refused. It names a call and grants nothing.
 */
import { timingSafeEqual } from "node:crypto";
import { hostOf } from "../../../runtime/create-runtime.ts";
import type { Runtime } from "../../../runtime/runtime.ts";
import { keyedHash } from "../../../util/hash.ts";

export async function toRequestState(runtime: Runtime, key: string): Promise<string> {
  return `${await signatureOf(runtime, key)}.${key}`;
}

/** @throws where the state is not one that `toRequestState` made on this store */
export async function readRequestState(runtime: Runtime, state: string): Promise<string> {
  const [signature = "", ...rest] = state.split(".");
  const key = rest.join(".");
  const expected = Buffer.from(await signatureOf(runtime, key));
  const given = Buffer.from(signature);
  if (given.length === expected.length && timingSafeEqual(given, expected)) return key;
  throw new Error("the state was not made by this server");
}

async function signatureOf(runtime: Runtime, key: string): Promise<string> {
  await runtime.ready();
  const { store } = await hostOf(runtime);
  return keyedHash(store.secret, `mcp request state ${key}`);
}
