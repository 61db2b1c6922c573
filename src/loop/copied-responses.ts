/**
 * The responses that a fork copied from its parent and that are found by their request. Where the parent's requests were
 * redacted, the fork's requests show the same marks, so the texts are compared instead of their hashes.
 */
import type { AskedModel } from "../invoke/asked-model.ts";
import { marksIn } from "../invoke/replay/compare.ts";
import type { FixtureResponse } from "../invoke/replay/fixture.ts";
import { decodeJson } from "../invoke/replay/recorded-calls.ts";
import { RecordedRequests } from "../invoke/replay/recorded-requests.ts";
import type { Scope } from "../invoke/scope.ts";
import type { Transaction } from "../store/store.ts";
import { forgetResponse, readResponsesByRequest } from "../store/tables/responses.ts";

export interface CopiedResponse {
  readonly value: unknown;
  /** It moves to the position of the request that it was found for. */
  forget(): Transaction<void>;
}

export class CopiedResponses {
  readonly #scope: Scope;
  readonly #used = new Set<number>();
  #requests: RecordedRequests | undefined;

  constructor(scope: Scope) {
    this.#scope = scope;
  }

  /** The response at this position was found by the hash of its request. */
  noteUsed(position: number): void {
    this.#used.add(position);
  }

  /** `undefined` outside forks, and if no copied request is equal. Each response is taken once. */
  async take(request: (() => AskedModel) | undefined): Promise<CopiedResponse | undefined> {
    const { originId, id: scopeId, attempt } = this.#scope;
    if (originId === undefined || request === undefined) return undefined;
    this.#requests ??= await this.#load();
    const response = this.#requests.findEqual(placeOf(this.#scope), request(), this.#used);
    if (response === undefined) return undefined;
    const { position } = response;
    this.#used.add(position);
    return {
      value: decodeJson(response.response),
      *forget() {
        yield* forgetResponse({ scopeId, attempt, position });
      },
    };
  }

  async #load(): Promise<RecordedRequests> {
    const { host, id, attempt, identity } = this.#scope;
    const rows = await host.store.read(() => readResponsesByRequest(id, attempt));
    const { nodeId, path } = identity;
    const responses = rows.map(({ position, responseJson, requestJson }): FixtureResponse => ({
      nodeId,
      path,
      attempt,
      position,
      request: requestJson === null ? undefined : JSON.parse(requestJson),
      response: JSON.parse(responseJson),
    }));
    return new RecordedRequests(responses, new Set(marksIn(JSON.stringify(responses))));
  }
}

function placeOf({ attempt, identity }: Scope): string {
  return `${attempt} ${identity.path} ${identity.nodeId}`;
}
