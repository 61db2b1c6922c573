import { expect, it, onTestFinished } from "vitest";
import { BareScopes } from "./bare-scopes.ts";
import { StoreRuntime } from "./store-runtime.ts";

function create(): BareScopes {
  const runtime = new StoreRuntime({ store: ":memory:" }, new Set());
  onTestFinished(() => runtime.dispose());
  return new BareScopes(runtime.host);
}

/** A call under its own run id. */
function call(scopes: BareScopes, runId: string, isCounted: boolean) {
  const { scope, close } = scopes.open({ runId }, "tool", () => "tool");
  if (isCounted) scope.indexes.assign("tool", { isCheck: false });
  close(false);
  return scope;
}

it("forgets scopes without a count, least recently used first", () => {
  const scopes = create();
  const first = call(scopes, "first", false);
  const other = call(scopes, "other", false);
  for (let n = 0; n < 99; n += 1) {
    call(scopes, `r${n}`, false);
    expect(call(scopes, "first", false)).toBe(first);
  }
  expect(call(scopes, "other", false)).not.toBe(other);
});

it("keeps scopes that have a count or are in use", () => {
  const scopes = create();
  const counted = call(scopes, "counted", true);
  const inUse = scopes.open({ runId: "in use" }, "tool", () => "tool");
  for (let n = 0; n < 200; n += 1) call(scopes, `r${n}`, false);
  expect(call(scopes, "counted", false)).toBe(counted);
  expect(call(scopes, "in use", false)).toBe(inUse.scope);
});
