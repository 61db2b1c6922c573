import { expect, test } from "vitest";
import { openSqliteStore } from "../store/sqlite/sqlite-store.ts";
import { wantStream } from "../store/tables/streams.ts";
import { LiveResponse } from "./live-response.ts";
import { RunStreams } from "./run-streams.ts";

test("a reader that arrives while a response is committed need not wait for the next request", async () => {
  const store = await openSqliteStore(":memory:");
  const streams = new RunStreams(store);
  const location = { scopeId: 1, attempt: 1, position: 0 };
  const origin = {
    runId: "r",
    scopeId: 1,
    attempt: 1,
    nodeId: "main",
    iteration: 0,
    parentKey: "",
    writer: { rootScopeId: 1, epoch: null, attempt: 1 },
  };
  const response = new LiveResponse(streams, origin, location, await streams.wanted("r"));
  await response.commit([], () => store.transaction(() => wantStream("r"), "normal"));
  expect(streams.current("r")).toBeUndefined();
  await expect.poll(() => streams.current("r")).toBeDefined();
  await streams.leave("r");
  await store.close();
});
