/**
 * Selects the messages of a request. When they exceed the window, the oldest results are archived first; if that is not
 * enough, the oldest exchanges are left out. The task, the last user message and the open exchange are always sent in full,
 * and no result is sent without its call. Each step is stored: a resume repeats it.
 */
import type { HistoryListener } from "../history.ts";
import type { AgentMessage } from "../../model/messages.ts";
import type { ContextState } from "../state.ts";
import type { Archive } from "./archive-message.ts";
import type { MessageCounter } from "./count-tokens.ts";

/** Well below the trigger, so that the prefix of requests changes rarely: providers cache by prefix. */
const TARGET_SHARE = 0.6;
/** Archiving is enough if it reaches this size. */
const ENOUGH_SHARE = 0.8;

export interface WindowOptions {
  readonly context: ContextState | null;
  readonly archive: Archive;
  readonly noteOf: NoteOf;
  readonly counter: MessageCounter;
  /** The size of a request without its messages. */
  readonly overhead: number;
  readonly trigger: number;
}

/** The message that replaces omitted messages. */
export type NoteOf = (summary: string) => AgentMessage;

/** The note of the last summary is the same message in each invoke, so that it is measured and converted once. */
export function createNotes(): NoteOf {
  let last: AgentMessage = Object.freeze({ role: "user", content: "" });
  return (summary) => {
    if (last.content !== summary) last = Object.freeze({ role: "user", content: summary });
    return last;
  };
}

/** The steps that make the next request fit. */
export interface WindowStep {
  readonly archivedUpTo: number;
  readonly droppedUpTo: number;
  /** The messages to leave out, in their stored form, since their summary is stored as well. */
  readonly dropped: readonly AgentMessage[];
}

const UNTOUCHED: ContextState = { archivedUpTo: 0, droppedUpTo: 0, summary: "" };

export class ContextWindow implements HistoryListener {
  readonly #options: WindowOptions;
  /** Each message in its sent and its stored form, and the size of the sent form. */
  readonly #sent: AgentMessage[];
  readonly #kept: AgentMessage[];
  readonly #sizes: number[];
  readonly #head: number;
  /** The last message before this invoke. */
  readonly #pinned: { readonly from: number; readonly to: number };
  #state: ContextState;
  #view: AgentMessage[] = [];
  #size = 0;
  /** The ratio of the token counts of the model to ours. */
  #scale = 1;

  constructor(began: readonly AgentMessage[], options: WindowOptions) {
    this.#options = options;
    const task = began.findIndex(({ role }) => role === "user");
    this.#head = task + 1;
    const last = began.findLastIndex(({ role }) => role === "assistant" || role === "tool");
    this.#pinned = { from: last + 1, to: began.length };
    this.#state = fits(options.context, began) ? options.context : UNTOUCHED;
    this.#sent = [...began];
    this.#kept = [...began];
    this.#sizes = [...options.counter.sizesOf(began)];
    this.#rebuild();
  }

  /** The same array grows until a message in it changes; then a new array replaces it. */
  get messages(): readonly AgentMessage[] {
    return this.#view;
  }

  get state(): ContextState | null {
    return this.#state === UNTOUCHED ? null : this.#state;
  }

  get tokens(): number {
    return Math.ceil((this.#size + this.#options.overhead) * this.#scale);
  }

  onAdded(sent: AgentMessage, kept: AgentMessage): void {
    const size = this.#sizeOf(sent);
    this.#sent.push(sent);
    this.#kept.push(kept);
    this.#sizes.push(size);
    this.#view.push(sent);
    this.#size += size;
  }

  /** Corrects our count by the model's count for the last request, but only upwards. */
  correct(inputTokens: number | undefined): void {
    const estimate = this.#size + this.#options.overhead;
    if (inputTokens === undefined || inputTokens <= 0 || estimate <= 0) return;
    this.#scale = Math.min(3, Math.max(1, inputTokens / estimate));
  }

  /** `undefined` when the next request fits, or nothing can be shortened. */
  nextStep(): WindowStep | undefined {
    const { trigger } = this.#options;
    if (this.tokens <= trigger) return undefined;
    const live = this.#liveFrom();
    const room = (share: number): number => (trigger * share) / this.#scale - this.#options.overhead;
    let size = this.#size;
    let { archivedUpTo, droppedUpTo } = this.#state;
    for (; archivedUpTo < live && size > room(TARGET_SHARE); archivedUpTo += 1) {
      if (archivedUpTo < droppedUpTo) continue;
      size -= this.#sizeAt(archivedUpTo) - this.#sizeOfForm(archivedUpTo, this.#archived(archivedUpTo));
    }
    if (size > room(ENOUGH_SHARE)) {
      droppedUpTo = Math.max(droppedUpTo, this.#head);
      while (droppedUpTo < live && size > room(TARGET_SHARE)) {
        const next = this.#nextBoundary(droppedUpTo);
        if (next > live) break;
        for (let index = droppedUpTo; index < next; index += 1)
          size -= this.#isPinned(index) ? 0 : this.#sizeOfForm(index, this.#formOf(index, archivedUpTo));
        droppedUpTo = next;
      }
    }
    if (
      archivedUpTo === this.#state.archivedUpTo &&
      droppedUpTo <= Math.max(this.#state.droppedUpTo, this.#head)
    )
      return undefined;
    const from = Math.max(this.#state.droppedUpTo, this.#head);
    const indices = Array.from({ length: Math.max(0, droppedUpTo - from) }, (_, index) => from + index);
    return {
      archivedUpTo,
      droppedUpTo: droppedUpTo > from ? droppedUpTo : this.#state.droppedUpTo,
      dropped: indices.filter((index) => !this.#isPinned(index)).map((index) => this.#archivedAsKept(index)),
    };
  }

  apply(state: ContextState): void {
    this.#state = state;
    this.#rebuild();
  }

  #rebuild(): void {
    const { archivedUpTo, droppedUpTo, summary } = this.#state;
    const view: AgentMessage[] = [];
    let size = 0;
    for (let index = 0; index < this.#sent.length; index += 1) {
      if (index === this.#head && droppedUpTo > this.#head && summary !== "") {
        const note = this.#options.noteOf(summary);
        view.push(note);
        size += this.#sizeOf(note);
      }
      if (index < droppedUpTo && !this.#isPinned(index)) continue;
      const form = this.#formOf(index, archivedUpTo);
      view.push(form);
      size += this.#sizeOfForm(index, form);
    }
    this.#view = view;
    this.#size = size;
  }

  /** The start of the exchange that the model has not answered yet. */
  #liveFrom(): number {
    return Math.max(
      this.#sent.findLastIndex(({ role }) => role === "assistant"),
      0,
    );
  }

  /** The start of the next exchange: never between a call and its results. */
  #nextBoundary(from: number): number {
    let next = from + 1;
    while (next < this.#sent.length && this.#at(next).role === "tool") next += 1;
    return next;
  }

  #sizeOf(message: AgentMessage): number {
    return this.#options.counter.sizeOf(message);
  }

  #isPinned(index: number): boolean {
    return index < this.#head || (index >= this.#pinned.from && index < this.#pinned.to);
  }

  #at(index: number): AgentMessage {
    return this.#sent[index] as AgentMessage;
  }

  #sizeAt(index: number): number {
    return this.#sizes[index] as number;
  }

  #formOf(index: number, archivedUpTo: number): AgentMessage {
    return index < archivedUpTo ? this.#archived(index) : this.#at(index);
  }

  /** Most messages are too short to be archived. */
  #sizeOfForm(index: number, form: AgentMessage): number {
    return form === this.#at(index) ? this.#sizeAt(index) : this.#sizeOf(form);
  }

  #archived(index: number): AgentMessage {
    return this.#options.archive(this.#at(index), () => this.#handlesAfter(index));
  }

  #archivedAsKept(index: number): AgentMessage {
    return this.#options.archive(this.#kept[index] as AgentMessage, () => this.#handlesAfter(index));
  }

  /** The executionIds of the calls of one response. A model may reuse an id: only the results right after it count. */
  #handlesAfter(index: number): ReadonlyMap<string, string> {
    const handles = new Map<string, string>();
    for (let next = index + 1; this.#sent[next]?.role === "tool"; next += 1) {
      const { tool_call_id: id, executionId } = this.#at(next);
      if (id !== undefined && executionId !== undefined) handles.set(id, executionId);
    }
    return handles;
  }
}

/** A state may come from anywhere: an invalid one is ignored. */
function fits(
  context: ContextState | null | undefined,
  began: readonly AgentMessage[],
): context is ContextState {
  if (context === null || context === undefined || typeof context !== "object") return false;
  const { archivedUpTo, droppedUpTo, summary } = context;
  const isIndex = (index: unknown): boolean =>
    Number.isSafeInteger(index) && (index as number) >= 0 && (index as number) <= began.length;
  if (!isIndex(archivedUpTo) || !isIndex(droppedUpTo) || typeof summary !== "string") return false;
  return droppedUpTo === began.length || began[droppedUpTo]?.role !== "tool";
}
