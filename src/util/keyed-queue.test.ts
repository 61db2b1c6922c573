/** Tasks with one key run in order; other keys do not wait. */
import { expect, test } from "vitest";
import { KeyedQueue } from "./keyed-queue.ts";

test("tasks with the same key run one after another, in the order of the calls", async () => {
  const queue = new KeyedQueue();
  const gate = Promise.withResolvers<void>();
  const order: string[] = [];
  const first = queue.run("a", async () => {
    await gate.promise;
    order.push("first");
  });
  const second = queue.run("a", () => Promise.resolve(order.push("second")));
  await queue.run("b", () => Promise.resolve(order.push("other")));
  gate.resolve();
  await Promise.all([first, second]);
  expect(order).toEqual(["other", "first", "second"]);
});

test("a task that fails rejects its caller, and the next one runs", async () => {
  const queue = new KeyedQueue();
  const failed = queue.run("a", () => Promise.reject(new Error("no")));
  const next = queue.run("a", () => Promise.resolve("ran"));
  await expect(failed).rejects.toThrow("no");
  expect(await next).toBe("ran");
});
