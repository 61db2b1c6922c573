/** The calls of a run, in the order in which they were made, with their values decoded. */
import type { ModelError } from "../errors.ts";
import { decodeError } from "../invoke/error-record.ts";
import type { Store } from "../store/store.ts";
import { type CallFilter, type LoggedCall, readCallLog } from "../store/tables/call-log.ts";
import { toShownStored } from "../util/truncate.ts";
import { livenessIn } from "./run-owner.ts";

export interface ListedCall extends LoggedCall {
  readonly input: unknown;
  readonly output: unknown;
  readonly error: ModelError | null;
}

export async function listCalls(store: Store, filter: CallFilter): Promise<ListedCall[]> {
  const calls = await readCallLog(store, filter, livenessIn(store));
  return calls.map((call) => ({
    ...call,
    input: shownValue(call.inputJson),
    output: shownValue(call.outputJson),
    error: call.errorJson === null ? null : decodeError(call.errorJson).toModel(),
  }));
}

function shownValue(json: string | null): unknown {
  return json === null ? null : (JSON.parse(toShownStored(json)) as unknown);
}
