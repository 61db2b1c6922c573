/**
 * The current span, alongside the context manager of the API: an SDK may have registered none, and the tree must still be
 * right.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { type Attributes, type Context, context, createContextKey, ROOT_CONTEXT } from "@opentelemetry/api";
import { sharedByCopies } from "../definition/package-copy.ts";
import type { Watch } from "./watch.ts";

export interface Frame {
  readonly context: Context;
  /** The name of the agent that runs here. */
  readonly agent: string | undefined;
  /** What is known about the request that the next call answers. Not for the calls inside that call. */
  readonly request?: Attributes | undefined;
}

const frames = sharedByCopies("telemetry frames.1", () => new AsyncLocalStorage<Frame>());
const INSIDE = createContextKey("toolwright.inside");

export function currentFrame(): Frame | undefined {
  return frames.getStore();
}

/** The context of new spans: the application's if it was made inside ours, else ours. */
export function currentContext(watch: Watch): Context {
  const own = frames.getStore()?.context;
  const active = watch.try(() => context.active(), ROOT_CONTEXT);
  return own === undefined || active.getValue(INSIDE) !== undefined ? active : own;
}

export function runInFrame<T>(frame: Frame, watch: Watch, work: () => T): T {
  const inside = { ...frame, context: frame.context.setValue(INSIDE, true) };
  return frames.run(inside, () => watch.within(inside.context, work));
}
