/** `concurrency` of a tool in several processes, one of which is killed. The calls at once are counted outside of them. */
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { openStore } from "../../src/store/open-store.ts";
import { all } from "../../src/store/statement.ts";
import { until } from "../semantics/harness.ts";
import { STORE_KINDS } from "../store-kinds.ts";
import { startProgram } from "./start-process.ts";

/** A service that knows how many of its callers are waiting for an answer. */
async function openService() {
  const waiting = new Map<ServerResponse, number>();
  const peaks: number[] = [];
  const answered: number[] = [];
  let isHolding = true;
  const answer = (response: ServerResponse): void => {
    answered.push(waiting.get(response) ?? 0);
    waiting.delete(response);
    response.end("done");
  };
  const server = createServer((request, response) => {
    waiting.set(response, Number(request.url?.slice(1)));
    response.on("close", () => waiting.delete(response));
    peaks.push(waiting.size);
    if (!isHolding) setTimeout(() => answer(response), 5);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    peaks,
    answered,
    callers: () => [...waiting.values()],
    /** From now on every caller gets an answer. */
    release: () => {
      isHolding = false;
      for (const response of waiting.keys()) answer(response);
    },
  };
}

for (const kind of STORE_KINDS)
  test(`on ${kind.name}, processes share the limit of a tool, and a killed one frees its place`, async () => {
    const fresh = await kind.fresh();
    const store = await openStore(fresh.address);
    onTestFinished(async () => {
      await store.close();
      await fresh[Symbol.asyncDispose]();
    });
    const service = await openService();
    const input = { store: fresh.address, url: service.url };
    const program = "limited-process.ts";
    const killed = await startProgram(program, { ...input, calls: 3 });
    await until(() => service.callers().length === 1);
    const others = await Promise.all([1, 2].map(() => startProgram(program, { ...input, calls: 3 })));
    const line = () => store.read(() => all("SELECT owner_id FROM toolwright_limit_queue"));
    await until(async () => (await line()).length === 3);
    expect(service.callers()).toEqual([killed.pid]);
    killed.signal("SIGKILL");
    await until(() => service.callers().some((pid) => pid !== killed.pid));
    service.release();
    await Promise.all(others.map((one) => one.says("done")));
    expect(Math.max(...service.peaks)).toBe(1);
    const calls = others.map(({ pid }) => service.answered.filter((caller) => caller === pid).length);
    expect(calls).toEqual([3, 3]);
    expect(await Promise.all(others.map(({ ended }) => ended))).toEqual([0, 0]);
    expect(await store.read(() => all("SELECT call_key FROM toolwright_reservations"))).toEqual([]);
  });
