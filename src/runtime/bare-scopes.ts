/**
 * The scopes of bare calls, which belong to no task. Their indexes count within the runtime, so a scope with an index lives
 * as long as the runtime. A scope whose calls all had a `callKey` is evicted, since servers create new ones all the time.
 */
import { randomUUID } from "node:crypto";
import { scopeText } from "../definition/call-key.ts";
import type { Host } from "../invoke/host.ts";
import { Scope, type ScopeOptions } from "../invoke/scope.ts";
import { digest } from "../util/hash.ts";
import { RUN_AS, type RunAs, type RuntimeCallOptions } from "./runtime.ts";
import { identityOf } from "./task-identity.ts";

const MOST_IDLE = 100;

export interface BareScope {
  readonly scope: Scope;
  /** Called when the call has returned. @param isWaiting it waits for approval */
  readonly close: (isWaiting: boolean) => void;
}

interface Kept extends BareScope {
  readonly name: string;
  users: number;
}

/** The fields of a task that name a scope, if it has no loop path. */
type Named = Pick<RuntimeCallOptions, "runId" | "nodeId" | "iteration" | "attempt">;

export class BareScopes {
  readonly #host: Host;
  readonly #kept = new Map<string, Kept>();
  /** Unused scopes without an index, least recently used first. */
  readonly #idle = new Map<string, Kept>();
  /** The scope that was opened last: most calls are made in the same one, and need not derive its name. */
  #last: { readonly task: Named; readonly kept: Kept } | undefined;

  /** Run ids of pending calls that were made without one, by the text of the call, oldest first. */
  readonly #waiting = new Map<string, Scope[]>();

  constructor(host: Host) {
    this.#host = host;
  }

  /** @param call the tool and its arguments as text */
  open(options: RuntimeCallOptions, toolName: string, call: () => string): BareScope {
    const last = this.#last;
    if (last !== undefined && isSameTask(last.task, options)) return this.#use(last.kept);
    const runId = options.runId ?? runOfKey(options.callKey);
    const listed = listedAs(options, toolName);
    return runId === undefined
      ? this.#openUnnamed(options, listed, call())
      : this.#openNamed({ ...options, runId }, listed);
  }

  /** Without a run id every call is its own run. A pending call that is made again is the same call. */
  #openUnnamed(options: RuntimeCallOptions, listed: Listed, call: string): BareScope {
    const { identity, attempt } = identityOf({ ...options, runId: randomUUID() });
    const name = `${attempt} ${scopeText({ ...identity, runId: "" })} ${call}`;
    const waiting = this.#waiting.get(name) ?? [];
    const scope = waiting.shift() ?? new Scope(this.#host, { identity, attempt, ...listed });
    if (waiting.length === 0) this.#waiting.delete(name);
    const close = (isWaiting: boolean): void => {
      if (isWaiting) this.#waiting.set(name, [...(this.#waiting.get(name) ?? []), scope]);
      else void this.#host.streams.leave(scope.identity.runId);
    };
    return { scope, close };
  }

  #openNamed(options: RuntimeCallOptions & { readonly runId: string }, listed: Listed): BareScope {
    const { identity, attempt } = identityOf(options);
    const name = `${attempt} ${scopeText(identity)}`;
    const kept =
      this.#kept.get(name) ?? this.#keep(name, new Scope(this.#host, { identity, attempt, ...listed }));
    const { runId, nodeId, iteration, attempt: given, loopPath } = options;
    if (loopPath === undefined) this.#last = { task: { runId, nodeId, iteration, attempt: given }, kept };
    return this.#use(kept);
  }

  #use(kept: Kept): BareScope {
    kept.users += 1;
    this.#idle.delete(kept.name);
    return kept;
  }

  #keep(name: string, scope: Scope): Kept {
    const kept: Kept = { scope, name, users: 0, close: () => this.#close(kept) };
    this.#kept.set(name, kept);
    scope.ready.catch(() => this.#forget(kept));
    return kept;
  }

  #close(kept: Kept): void {
    kept.users -= 1;
    if (kept.users > 0 || !kept.scope.indexes.isEmpty || this.#kept.get(kept.name) !== kept) return;
    this.#idle.set(kept.name, kept);
    const [oldest] = this.#idle.values();
    if (this.#idle.size > MOST_IDLE && oldest !== undefined) this.#forget(oldest);
  }

  #forget(kept: Kept): void {
    if (this.#kept.get(kept.name) === kept) this.#kept.delete(kept.name);
    if (this.#idle.get(kept.name) === kept) this.#idle.delete(kept.name);
    if (this.#last?.kept === kept) this.#last = undefined;
  }
}

/** Whether both name the same scope. A call without a run id is its own run, so it never matches. */
function isSameTask(one: Named, other: RuntimeCallOptions): boolean {
  return (
    other.runId !== undefined &&
    one.runId === other.runId &&
    one.nodeId === other.nodeId &&
    one.iteration === other.iteration &&
    one.attempt === other.attempt &&
    other.loopPath === undefined
  );
}

type Listed = Pick<ScopeOptions, "kind" | "runName" | "labels">;

function listedAs(options: RuntimeCallOptions & { readonly [RUN_AS]?: RunAs }, toolName: string): Listed {
  return { kind: options[RUN_AS]?.kind, runName: toolName, labels: options.labels };
}

/** A `callKey` without a run id identifies one call in the whole store: its run id is derived from the key. */
function runOfKey(callKey: string | undefined): string | undefined {
  return callKey === undefined ? undefined : `call-${digest([callKey]).slice(0, 24)}`;
}
