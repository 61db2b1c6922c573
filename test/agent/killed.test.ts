/**
 * An agent with a small window whose process is repeatedly killed at random moments, which a seed determines.
 * TOOLWRIGHT_CRASH_RUNS sets the number of kills per store, for longer runs.
 */
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { createCrashProgram } from "../../src/testing/index.ts";
import { Random } from "../random.ts";
import { openShop } from "../crash/shop.ts";
import { amount } from "../amount.ts";
import { bundled } from "../started-programs.ts";
import { STORE_KINDS } from "../store-kinds.ts";
import type { ResearchInput } from "./programs/research-agent.ts";

const KILLS = Number(process.env["TOOLWRIGHT_CRASH_RUNS"] ?? amount(6, 12));
const KILLS_PER_RUN = 6;
const LONGEST_MS = 420;
const REPORTS = 6;

const program = createCrashProgram(bundled(new URL("./programs/research-agent.ts", import.meta.url)), {
  timeoutMs: 60_000,
});

interface Said {
  readonly role: string;
  readonly content: string;
  readonly name?: string;
  readonly tool_call_id?: string;
}

/** The number of the requested response: the ids of its calls contain it. */
function placeOf(messages: readonly Said[]): number {
  const places = messages.map(({ tool_call_id: id }) => Number(/^s(\d+)-/.exec(id ?? "")?.[1] ?? -1));
  return Math.max(-1, ...places) + 1;
}

function answer(messages: readonly Said[]): object {
  const text = JSON.stringify(messages);
  if (text.includes("Summarise this part")) return { content: "Reports were read and orders placed." };
  const place = placeOf(messages);
  const call = (name: string, args: object) => ({ id: `s${place}-${randomUUID()}`, name, args });
  const calls = (...list: object[]) => ({
    content: "",
    tool_calls: list,
    usage_metadata: { input_tokens: 1, output_tokens: 1 },
  });
  if (place === 0)
    return calls(call("manage_todo_list", { operation: "write", todoList: [{ id: 1, title: "read" }] }));
  if (place <= REPORTS)
    return calls(call("read_report", { n: place }), call("place_keyed", { sku: `sku-${place}` }));
  // The handle of the first report is the first one that is shown, wherever it is now.
  const executionId =
    /get_tool_response \{\\"executionId\\":\\"([\w-]{43})|read_report \{\\"executionId\\":\\"([\w-]{43})/.exec(
      text,
    );
  const handle = executionId?.[1] ?? executionId?.[2];
  const last = messages.at(-1);
  if (last?.name !== "get_tool_response") return calls(call("get_tool_response", { executionId: handle }));
  const page = JSON.parse(last.content) as {
    content: string;
    executionId: string;
    nextOffset: number | null;
  };
  const code = /The code of report 1 is (\d+)/.exec(page.content)?.[1];
  if (code !== undefined) return { content: `It is ${code}.` };
  return calls(call("get_tool_response", { executionId: page.executionId, offset: page.nextOffset ?? 0 }));
}

interface ModelServer extends AsyncDisposable {
  readonly url: string;
  readonly requests: (readonly Said[])[];
}

async function openModel(): Promise<ModelServer> {
  const requests: (readonly Said[])[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const messages = JSON.parse(Buffer.concat(chunks).toString()) as Said[];
      requests.push(messages);
      setTimeout(() => response.end(JSON.stringify(answer(messages))), 8);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe.each(STORE_KINDS)("on $name", (storeKind) => {
  test(
    "has each effect once, repeats few requests, and finds a detail of the first result",
    { timeout: 60_000 + KILLS * 5_000 },
    async () => {
      const random = new Random(storeKind.name.length);
      let kills = 0;
      while (kills < KILLS) {
        await using store = await storeKind.fresh();
        await using shop = await openShop(2);
        await using model = await openModel();
        const input: ResearchInput = { store: store.address, shopUrl: shop.url, modelUrl: model.url };
        const args = [JSON.stringify(input)];
        const moments: number[] = [];
        let result: string | undefined;
        while (result === undefined) {
          const isLast = moments.length >= KILLS_PER_RUN;
          const killAfterMs = random.below(LONGEST_MS);
          if (!isLast) moments.push(killAfterMs);
          const run = await program.run(isLast ? { args } : { args, killAfterMs });
          if (run.crashed) kills += 1;
          else result = run.stdout;
        }
        const told = `killed after ${moments.join(", ")} ms`;
        expect(JSON.parse(result), told).toMatchObject({
          status: "finished",
          content: "It is 7919.",
          plan: 1,
        });
        expect(shop.ledger.map(({ sku }) => sku).sort(), told).toEqual(
          Array.from({ length: REPORTS }, (_, index) => `sku-${index + 1}`),
        );
        // A logged response is not requested again: each crash costs at most the one in flight, and a summary.
        const isSummary = (messages: readonly Said[]): boolean =>
          JSON.stringify(messages).includes("Summarise this part");
        const asked = model.requests.filter((messages) => !isSummary(messages)).map(placeOf);
        expect(asked.length, told).toBeLessThanOrEqual(new Set(asked).size + moments.length);
        for (const messages of model.requests)
          expect(JSON.stringify(messages).length / 3, told).toBeLessThan(4_500);
        // Finished: the result comes from the log.
        const count = model.requests.length;
        expect((await program.run({ args })).stdout, told).toBe(result);
        expect(model.requests, told).toHaveLength(count);
      }
    },
  );
});
