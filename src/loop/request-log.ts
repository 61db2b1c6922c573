/**
 * The requests of a recorded run, each as its difference from the previous one: a request repeats all earlier messages, and
 * storing them each time would make a long loop quadratic.
 */
import type { AskedModel, StoredRequest } from "../invoke/asked-model.ts";
import type { Scope } from "../invoke/scope.ts";
import { isRecorded } from "../store/tables/recordings.ts";
import { encode } from "../util/encode.ts";

interface LastRequest {
  readonly position: number;
  readonly messages: readonly unknown[];
  readonly texts: readonly string[];
  readonly settings: string;
}

export class RequestLog {
  readonly #scope: Scope;
  #isRecorded: boolean | undefined;
  #last: LastRequest | undefined;

  constructor(scope: Scope) {
    this.#scope = scope;
  }

  /** `null` for a run that is not recorded. */
  async describe(position: number, request: (() => AskedModel) | undefined): Promise<string | null> {
    if (request === undefined) return null;
    const { host, identity } = this.#scope;
    this.#isRecorded ??= await host.store.read(() => isRecorded(identity.runId));
    if (!this.#isRecorded) return null;
    try {
      return this.#describe(position, request());
    } catch {
      // A request that has no stored form, such as one with a function in it, is not recorded.
      return null;
    }
  }

  #describe(position: number, { messages, settings }: AskedModel): string {
    const last = this.#last;
    // Loops pass the same objects again, so most messages need no second text.
    const texts = messages.map((message, index) =>
      last !== undefined && last.messages[index] === message ? (last.texts[index] ?? "") : encode(message),
    );
    let shared = 0;
    while (shared < texts.length && texts[shared] === last?.texts[shared]) shared += 1;
    const settingsText = encode(settings);
    this.#last = { position, messages: [...messages], texts, settings: settingsText };
    const stored: StoredRequest = {
      ...(last === undefined || shared === 0 ? {} : { after: last.position }),
      shared,
      added: messages.slice(shared),
      ...(last !== undefined && shared > 0 && last.settings === settingsText ? {} : { settings }),
    };
    return encode(stored);
  }
}
