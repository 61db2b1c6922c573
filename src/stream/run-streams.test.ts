import { expect, test } from "vitest";
import type { Store } from "../store/store.ts";
import { RunStreams } from "./run-streams.ts";

test("a store that does not answer once fails one reader, not the next", async () => {
  const answers = [Promise.reject(new Error("busy")), Promise.resolve(1)];
  const store = { version: () => answers.shift(), read: () => Promise.resolve(undefined) };
  const streams = new RunStreams(store as unknown as Store);
  const listener = { onChange: () => undefined };
  await expect(streams.listen("r", listener)).rejects.toThrow("busy");
  // No one reads the run.
  expect(await streams.wanted("r")).toBeUndefined();
  const leave = await streams.listen("r", listener);
  await leave();
});
