import { expect, test } from "vitest";
import type { Statement } from "../store/statement.ts";
import type { Store, Transaction } from "../store/store.ts";
import { RunStream } from "./run-stream.ts";
import type { NumberedPart } from "./stream-part.ts";

/** An empty store that records all writes. */
function createEmptyStore(written: Statement[]): Store {
  const transaction = async <T>(work: () => Transaction<T>): Promise<T> => {
    const steps = work();
    for (let step = steps.next(); ;) {
      if (step.done === true) return step.value;
      written.push(step.value);
      step = steps.next({ rows: [], changes: 0 });
    }
  };
  return { transaction } as unknown as Store;
}

test("the parts of a response that could not be committed are stored: the next request for it retracts them", async () => {
  const written: Statement[] = [];
  const delivered: NumberedPart[] = [];
  const stream = await RunStream.open("r", createEmptyStore(written), (part) => delivered.push(part));
  const location = { scopeId: 1, attempt: 1, position: 0 };
  const writer = { attempt: 1, rootScopeId: 1, epoch: 1 };
  const origin = { runId: "r", nodeId: "main", iteration: 0, parentKey: "", ...location, writer };
  stream.publish(origin, "1.1.0", { type: "text-delta", id: "t", delta: "Hel" });
  const failing = stream.commit(
    origin,
    location,
    () => delivered,
    [],
    () => Promise.reject(new Error("full")),
  );
  await expect(failing).rejects.toThrow("full");
  await stream.close();
  expect(delivered).toMatchObject([{ delta: "Hel" }]);
  const inserted = written.filter(({ sql }) => sql.startsWith("INSERT INTO toolwright_stream_parts"));
  expect(inserted.map(({ parameters }) => parameters.at(-1))).toEqual([JSON.stringify(delivered)]);
});

test("an attempt that is over says nothing more, and another task is not affected", async () => {
  const delivered: NumberedPart[] = [];
  const stream = await RunStream.open("r", createEmptyStore([]), (part) => delivered.push(part));
  const originOf = (scopeId: number, attempt: number) => ({
    runId: "r",
    nodeId: `task ${scopeId}`,
    iteration: 0,
    parentKey: "",
    scopeId,
    attempt,
    writer: { attempt, rootScopeId: scopeId, epoch: 1 },
  });
  const say = (scopeId: number, attempt: number, delta: string): void =>
    stream.publish(originOf(scopeId, attempt), `${scopeId}.${attempt}.0`, {
      type: "text-delta",
      id: "t",
      delta,
    });
  say(1, 1, "old");
  say(2, 1, "other");
  stream.retractEarlierAttempts(originOf(1, 2));
  say(1, 1, "too late");
  say(1, 2, "new");
  stream.retractEarlierAttempts(originOf(1, 2));
  await stream.close();
  expect(delivered.map((part) => [part.response, "delta" in part ? part.delta : part.type])).toEqual([
    ["1.1.0", "old"],
    ["2.1.0", "other"],
    ["1.1.0", "retracted"],
    ["1.2.0", "new"],
  ]);
});
