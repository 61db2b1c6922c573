/**
 * Gives each call its index among the equal calls of a scope, synchronously and in the order in which the calls are made.
 *
 * An index belongs to its call until the call has ended. A call that returned `pending`, was cut off, or could not be
 * recorded has not ended: the next equal call is that call and gets its index. Calls of one batch (one model response)
 * are different calls, even if the first of them has returned before the second is made.
 */
import { sha256 } from "../util/hash.ts";

/** Scopes live long, and a digest identifies long arguments as well as their text. */
const LONGEST_TEXT = 200;

export interface PlaceRequest {
  /** Only asks whether the call needs approval: the call that follows under the same `toolCallId` is the same one. */
  readonly ask: boolean;
  readonly toolCallId?: string | undefined;
  /** Identifies the model response that holds the call. */
  readonly batch?: object | string | undefined;
  /** Identifies the call for the loop that makes it: at the same site it is the same call, also if it runs or has ended. */
  readonly site?: string | undefined;
  /** What the messages of the loop say, where it passes them. */
  readonly history?: { readonly earlier: number; readonly isResumed: boolean } | undefined;
}

interface Place {
  index: number;
  isRunning: boolean;
  batch: object | string | undefined;
  /** The call was cut off, so what became of it is not known: the next equal call has to find out first. */
  isCut: boolean;
  /** The call was asked about under this id and has not been executed yet. */
  askedAs: string | undefined;
}

export class Places {
  readonly #next = new Map<string, number>();
  readonly #unended = new Map<string, Place[]>();
  /** Where the calls of each site are, by site and name. */
  readonly #sites = new Map<string, number>();

  get isEmpty(): boolean {
    return this.#next.size === 0;
  }

  assign(text: string, request: PlaceRequest): number {
    const name = nameOf(text);
    const place =
      this.#atSite(name, request.site) ??
      this.#find(name, request) ??
      this.#add(name, request.history?.earlier);
    if (request.site !== undefined) this.#sites.set(`${request.site} ${name}`, place.index);
    place.isRunning = true;
    place.batch = request.batch;
    place.askedAs = request.ask ? request.toolCallId : undefined;
    return place.index;
  }

  /** The call has an outcome: the next equal call is another one. */
  end(text: string, index: number): void {
    const name = nameOf(text);
    const rest = this.#unended.get(name)?.filter((place) => place.index !== index);
    if (rest === undefined) return;
    if (rest.length === 0) this.#unended.delete(name);
    else this.#unended.set(name, rest);
  }

  /** The call returned without an outcome: the next equal call is this one. */
  release(text: string, index: number, isCut: boolean): void {
    const place = this.#unended.get(nameOf(text))?.find((other) => other.index === index);
    if (place === undefined) return;
    place.isRunning = false;
    place.isCut ||= isCut;
  }

  /** The record shows that the call is another one of the equal calls, and that those before it were made. */
  move(text: string, from: number, to: number): void {
    const name = nameOf(text);
    this.#next.set(name, Math.max(this.#next.get(name) ?? 0, to + 1));
    const place = this.#unended.get(name)?.find((other) => other.index === from);
    if (place !== undefined) place.index = to;
    for (const [site, index] of this.#sites) {
      if (index === from && site.endsWith(` ${name}`)) this.#sites.set(site, to);
    }
  }

  #atSite(name: string, site: string | undefined): Place | undefined {
    const index = site === undefined ? undefined : this.#sites.get(`${site} ${name}`);
    return index === undefined ? undefined : this.#at(name, index);
  }

  #find(name: string, request: PlaceRequest): Place | undefined {
    const { history } = request;
    // The messages hold the call: it is known which one it is, also if it has ended meanwhile.
    if (history?.isResumed === true) return this.#at(name, history.earlier);
    return this.#reusable(name, request);
  }

  #at(name: string, index: number): Place {
    const known = this.#unended.get(name)?.find((place) => place.index === index);
    if (known !== undefined) return known;
    this.#next.set(name, Math.max(this.#next.get(name) ?? 0, index + 1));
    return this.#keep(name, index);
  }

  #reusable(name: string, { ask, toolCallId, batch, history }: PlaceRequest): Place | undefined {
    // Earlier calls that the messages hold are not this one, whether they have ended or not, unless one was cut off.
    const places = this.#unended
      .get(name)
      ?.filter(({ index, isCut }) => isCut || index >= (history?.earlier ?? 0));
    if (places === undefined) return undefined;
    const asked =
      ask || toolCallId === undefined ? undefined : places.find((place) => place.askedAs === toolCallId);
    if (asked !== undefined) return asked;
    return places.find((place) => !place.isRunning && (batch === undefined || place.batch !== batch));
  }

  #add(name: string, atLeast = 0): Place {
    const index = Math.max(this.#next.get(name) ?? 0, atLeast);
    this.#next.set(name, index + 1);
    return this.#keep(name, index);
  }

  #keep(name: string, index: number): Place {
    const place: Place = { index, isRunning: true, batch: undefined, isCut: false, askedAs: undefined };
    const places = this.#unended.get(name);
    if (places === undefined) this.#unended.set(name, [place]);
    else places.push(place);
    return place;
  }
}

function nameOf(text: string): string {
  return text.length > LONGEST_TEXT ? sha256(text) : text;
}
