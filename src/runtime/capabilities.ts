/** What a call can reach is what it is handed: made for the call where the author gives a function, and disposed after it. */
import type { CallCapabilities, Host } from "../invoke/host.ts";
import type { Capabilities, RuntimeOptions } from "./options.ts";

export function createCapabilities(given: RuntimeOptions["capabilities"]): Host["capabilitiesFor"] {
  if (given === undefined) return undefined;
  if (typeof given !== "function") {
    const shared: CallCapabilities = { values: given, dispose: () => Promise.resolve() };
    return () => Promise.resolve(shared);
  }
  return async (call) => {
    const values = await given(call);
    return { values, dispose: () => disposeAll(values) };
  };
}

/** The object itself if it can be disposed, else each of its values that can: a connection that was open for one call. */
async function disposeAll(values: Capabilities): Promise<void> {
  if (await disposeOne(values)) return;
  for (const value of Object.values(values)) await disposeOne(value);
}

async function disposeOne(value: unknown): Promise<boolean> {
  if (typeof value !== "object" || value === null) return false;
  const dispose =
    (value as Partial<AsyncDisposable>)[Symbol.asyncDispose] ??
    (value as Partial<Disposable>)[Symbol.dispose];
  if (typeof dispose !== "function") return false;
  const disposed: unknown = dispose.call(value);
  await disposed;
  return true;
}
