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

interface Kept {
  readonly scope: Scope;
  users: number;
}

export class BareScopes {
  readonly #host: Host;
  readonly #kept = new Map<string, Kept>();
  /** Unused scopes without an index, least recently used first. */
  readonly #idle = new Map<string, Kept>();

  /** Run ids of pending calls that were made without one, by the text of the call, oldest first. */
  readonly #waiting = new Map<string, Scope[]>();

  constructor(host: Host) {
    this.#host = host;
  }

  /** @param call the tool and its arguments as text */
  open(options: RuntimeCallOptions, toolName: string, call: () => string): BareScope {
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
    };
    return { scope, close };
  }

  #openNamed(options: RuntimeCallOptions & { readonly runId: string }, listed: Listed): BareScope {
    const { identity, attempt } = identityOf(options);
    const name = `${attempt} ${scopeText(identity)}`;
    const kept =
      this.#kept.get(name) ?? this.#keep(name, new Scope(this.#host, { identity, attempt, ...listed }));
    kept.users += 1;
    this.#idle.delete(name);
    return { scope: kept.scope, close: () => this.#close(name, kept) };
  }

  #keep(name: string, scope: Scope): Kept {
    const kept = { scope, users: 0 };
    this.#kept.set(name, kept);
    scope.ready.catch(() => this.#forget(name, kept));
    return kept;
  }

  #close(name: string, kept: Kept): void {
    kept.users -= 1;
    if (kept.users > 0 || !kept.scope.indexes.isEmpty || this.#kept.get(name) !== kept) return;
    this.#idle.set(name, kept);
    const [oldest] = this.#idle;
    if (this.#idle.size > MOST_IDLE && oldest !== undefined) this.#forget(...oldest);
  }

  #forget(name: string, kept: Kept): void {
    if (this.#kept.get(name) === kept) this.#kept.delete(name);
    if (this.#idle.get(name) === kept) this.#idle.delete(name);
  }
}

type Listed = Pick<ScopeOptions, "kind" | "runName" | "labels">;

function listedAs(options: RuntimeCallOptions & { readonly [RUN_AS]?: RunAs }, toolName: string): Listed {
  return { kind: options[RUN_AS]?.kind, runName: toolName, labels: options.labels };
}

/** A `callKey` without a run id identifies one call in the whole store: its run id is derived from the key. */
function runOfKey(callKey: string | undefined): string | undefined {
  return callKey === undefined ? undefined : `call-${digest([callKey]).slice(0, 24)}`;
}
