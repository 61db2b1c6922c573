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
  readonly history?: { readonly earlier: number; readonly isResumed: boolean } | undefined;
}

/** A call that has not ended. */
interface OpenCall {
  index: number;
  isRunning: boolean;
  batch: object | string | undefined;
  /** The call was interrupted, so its effect is in doubt: the next equal call must resolve that first. */
  isInterrupted: boolean;
  /** The `toolCallId` of the approval check, until the call itself is made. */
  checkedAs: string | undefined;
}

export class CallIndexes {
  readonly #next = new Map<string, number>();
  readonly #open = new Map<string, OpenCall[]>();
  /** The index of the call at each site, by site and name. */
  readonly #sites = new Map<string, number>();

  get isEmpty(): boolean {
    return this.#next.size === 0;
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
    const name = nameOf(text);
    const rest = this.#open.get(name)?.filter((call) => call.index !== index);
    if (rest === undefined) return;
    if (rest.length === 0) this.#open.delete(name);
    else this.#open.set(name, rest);
  }

  /** The call returned without an outcome: the next equal call is this one. */
  release(text: string, index: number, isInterrupted: boolean): void {
    const call = this.#open.get(nameOf(text))?.find((other) => other.index === index);
    if (call === undefined) return;
    call.isRunning = false;
    call.isInterrupted ||= isInterrupted;
  }

  /** The log shows that the call has another index, and that the calls before it were made. */
  move(text: string, from: number, to: number): void {
    const name = nameOf(text);
    this.#next.set(name, Math.max(this.#next.get(name) ?? 0, to + 1));
    const call = this.#open.get(name)?.find((other) => other.index === from);
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
    return this.#reusable(name, request);
  }

  #at(name: string, index: number): OpenCall {
    const open = this.#open.get(name)?.find((call) => call.index === index);
    if (open !== undefined) return open;
    this.#next.set(name, Math.max(this.#next.get(name) ?? 0, index + 1));
    return this.#push(name, index);
  }

  #reusable(name: string, { isCheck, toolCallId, batch, history }: IndexRequest): OpenCall | undefined {
    // Earlier calls in the messages are other calls, whether they have ended or not. An interrupted one is this call.
    const calls = this.#open
      .get(name)
      ?.filter(({ index, isInterrupted }) => isInterrupted || index >= (history?.earlier ?? 0));
    if (calls === undefined) return undefined;
    const checked =
      isCheck || toolCallId === undefined ? undefined : calls.find((call) => call.checkedAs === toolCallId);
    if (checked !== undefined) return checked;
    return calls.find((call) => !call.isRunning && (batch === undefined || call.batch !== batch));
  }

  #add(name: string, atLeast = 0): OpenCall {
    const index = Math.max(this.#next.get(name) ?? 0, atLeast);
    this.#next.set(name, index + 1);
    return this.#push(name, index);
  }

  #push(name: string, index: number): OpenCall {
    const call: OpenCall = {
      index,
      isRunning: true,
      batch: undefined,
      isInterrupted: false,
      checkedAs: undefined,
    };
    const calls = this.#open.get(name);
    if (calls === undefined) this.#open.set(name, [call]);
    else calls.push(call);
    return call;
  }
}

function nameOf(text: string): string {
  return text.length > LONGEST_TEXT ? sha256(text) : text;
}
