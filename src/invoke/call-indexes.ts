/**
 * Assigns each call its index among the equal calls of a scope, synchronously and in the order of the calls.
 *
 * An index belongs to its call until the call has ended. A call that returned `pending`, was interrupted, or could not be
 * stored has not ended: the next equal call is the same call and gets its index. Calls of one batch (one model response)
 * are different calls, even if the first has returned before the second is made.
 */
import { sha256 } from "../util/hash.ts";

/** Longer texts are replaced by a digest, since scopes live long. */
const LONGEST_TEXT = 200;

export interface IndexRequest {
  /** Only checks whether the call needs approval: the next call with the same `toolCallId` is the same call. */
  readonly isCheck: boolean;
  readonly toolCallId?: string | undefined;
  /** Identifies the model response that contains the call. */
  readonly batch?: object | string | undefined;
  /** Identifies the call for the loop that makes it: the same site is the same call, even while it runs or after it ended. */
  readonly site?: string | undefined;
  /** What the messages of the loop say, if it passes them. */
  readonly history?:
    | {
        readonly earlier: number;
        readonly isResumed: boolean;
        /** The index of an equal call that waits, according to the messages. */
        readonly continues?: number | undefined;
      }
    | undefined;
}

/** A call that has not ended. */
class OpenCall {
  index: number;
  isRunning = true;
  batch: object | string | undefined = undefined;
  /** The call was interrupted, so its effect is in doubt: the next equal call must resolve that first. */
  isInterrupted = false;
  /** The `toolCallId` of the approval check, until the call itself is made. */
  checkedAs: string | undefined = undefined;

  constructor(index: number) {
    this.index = index;
  }
}

/** Equal calls of the scope. A class and one map: most calls are different, and each pays for its entry. */
class EqualCalls {
  /** The next free index. */
  next = 0;
  open: readonly OpenCall[] = NONE;
  /** By index: the batch of the call that has continued a waiting one. Another call of that batch is another call. */
  continued: Map<number, IndexRequest["batch"]> | undefined = undefined;
}

const NONE: readonly OpenCall[] = [];

export class CallIndexes {
  readonly #equal = new Map<string, EqualCalls>();
  /** The index of the call at each site, by site and name. */
  readonly #sites = new Map<string, number>();

  get isEmpty(): boolean {
    return this.#equal.size === 0;
  }

  assign(text: string, request: IndexRequest): number {
    const name = nameOf(text);
    const call =
      this.#atSite(name, request.site) ??
      this.#find(name, request) ??
      this.#add(name, request.history?.earlier);
    if (request.site !== undefined) this.#sites.set(`${request.site} ${name}`, call.index);
    call.isRunning = true;
    call.batch = request.batch;
    call.checkedAs = request.isCheck ? request.toolCallId : undefined;
    return call.index;
  }

  /** The call has an outcome: the next equal call is another one. */
  end(text: string, index: number): void {
    const equal = this.#equal.get(nameOf(text));
    if (equal === undefined) return;
    const { open } = equal;
    const isOnly = open.length === 1 && open[0]?.index === index;
    equal.open = isOnly ? NONE : open.filter((call) => call.index !== index);
  }

  /** The call returned without an outcome: the next equal call is this one. */
  release(text: string, index: number, isInterrupted: boolean): void {
    const call = this.#equal.get(nameOf(text))?.open.find((other) => other.index === index);
    if (call === undefined) return;
    call.isRunning = false;
    call.isInterrupted ||= isInterrupted;
  }

  /** The log shows that the call has another index, and that the calls before it were made. */
  move(text: string, from: number, to: number): void {
    const name = nameOf(text);
    const equal = this.#of(name);
    equal.next = Math.max(equal.next, to + 1);
    const call = equal.open.find((other) => other.index === from);
    if (call !== undefined) call.index = to;
    for (const [site, index] of this.#sites) {
      if (index === from && site.endsWith(` ${name}`)) this.#sites.set(site, to);
    }
  }

  #atSite(name: string, site: string | undefined): OpenCall | undefined {
    const index = site === undefined ? undefined : this.#sites.get(`${site} ${name}`);
    return index === undefined ? undefined : this.#at(name, index);
  }

  #find(name: string, request: IndexRequest): OpenCall | undefined {
    const { history } = request;
    // The messages contain the call, so its index is certain, even if the call has ended meanwhile.
    if (history?.isResumed === true) return this.#at(name, history.earlier);
    return this.#continued(name, request) ?? this.#reusable(name, request);
  }

  /** The call that waits, according to the messages. They may be those of another process. */
  #continued(name: string, { history, batch, toolCallId }: IndexRequest): OpenCall | undefined {
    const index = history?.continues;
    if (index === undefined) return undefined;
    const equal = this.#of(name);
    const open = equal.open.find((call) => call.index === index);
    if (open?.checkedAs !== undefined && open.checkedAs === toolCallId) return open;
    const isTaken = equal.continued?.has(index) === true && equal.continued.get(index) === batch;
    if (isTaken || open?.isRunning === true) return undefined;
    (equal.continued ??= new Map()).set(index, batch);
    return this.#at(name, index);
  }

  #at(name: string, index: number): OpenCall {
    const equal = this.#of(name);
    const open = equal.open.find((call) => call.index === index);
    if (open !== undefined) return open;
    equal.next = Math.max(equal.next, index + 1);
    return push(equal, index);
  }

  #reusable(name: string, { isCheck, toolCallId, batch, history }: IndexRequest): OpenCall | undefined {
    // Earlier calls in the messages are other calls, whether they have ended or not. An interrupted one is this call.
    const open = this.#equal.get(name)?.open;
    if (open === undefined || open.length === 0) return undefined;
    const calls = open.filter(
      ({ index, isInterrupted }) => isInterrupted || index >= (history?.earlier ?? 0),
    );
    const checked =
      isCheck || toolCallId === undefined ? undefined : calls.find((call) => call.checkedAs === toolCallId);
    if (checked !== undefined) return checked;
    return calls.find((call) => !call.isRunning && (batch === undefined || call.batch !== batch));
  }

  #add(name: string, atLeast = 0): OpenCall {
    const equal = this.#of(name);
    const index = Math.max(equal.next, atLeast);
    equal.next = index + 1;
    return push(equal, index);
  }

  #of(name: string): EqualCalls {
    let equal = this.#equal.get(name);
    if (equal === undefined) {
      equal = new EqualCalls();
      this.#equal.set(name, equal);
    }
    return equal;
  }
}

function push(equal: EqualCalls, index: number): OpenCall {
  const call = new OpenCall(index);
  equal.open = equal.open.length === 0 ? [call] : [...equal.open, call];
  return call;
}

function nameOf(text: string): string {
  return text.length > LONGEST_TEXT ? sha256(text) : text;
}
