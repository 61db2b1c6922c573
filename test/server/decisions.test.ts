/** Decisions of one request from many sides: one counts, and the others learn who decided, what and when. */
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createSmithers, defineTool, ToolwrightError } from "../../src/index.ts";
import { jsx } from "../../src/jsx-runtime.ts";
import { createFolder, toolwright } from "../cli/command.ts";
import { STORE_KINDS } from "../store-kinds.ts";
import {
  type Answer,
  ask,
  DECIDER,
  errorOf,
  freshStore,
  openEvents,
  openRuntime,
  requestPayment,
  startServer,
  TOKEN,
} from "./harness.ts";

const { Workflow, Approval, smithers } = createSmithers({});

const release = smithers(() =>
  jsx(Workflow, { name: "release", children: jsx(Approval, { id: "sign-off", prompt: "Release it?" }) }),
);

/** Never ends by itself, so that an abort leaves its effect in doubt. */
function createCharge(onBegin: () => void) {
  return defineTool({
    name: "charge",
    description: "Charges.",
    schema: z.object({ euros: z.number() }),
    outputSchema: z.object({ paid: z.number() }),
    sideEffect: true,
    idempotent: false,
    execute: (_args, _ctx) => {
      onBegin();
      return new Promise<{ paid: number }>(() => undefined);
    },
  });
}

interface Told {
  readonly won: boolean;
  /** What a loser reads. */
  readonly message: string;
}

describe.each(STORE_KINDS)("on $name", (kind) => {
  test("of 20 decisions over HTTP, the command line and a program, one counts", async () => {
    const store = await freshStore(kind);
    const servers = [await startServer({ store }), await startServer({ store })];
    const runtime = openRuntime(store);
    const folder = createFolder();
    const { id, argsHash } = await requestPayment(runtime, "r");
    const all = await Promise.all(
      Array.from({ length: 20 }, (_, index): Promise<Told> => {
        const approved = index % 2 === 0;
        if (index % 5 === 3) {
          const words = [approved ? "approve" : "deny", id, "--by", `cli-${index}`, "--store", store];
          return toolwright(folder, words).then(({ code, stderr }) => ({ won: code === 0, message: stderr }));
        }
        if (index % 5 === 4) {
          return runtime.resolveToolApproval(id, { approved, decidedBy: `program-${index}` }).then(
            () => ({ won: true, message: "" }),
            (error: unknown) => ({ won: false, message: ToolwrightError.is(error) ? error.message : "?" }),
          );
        }
        return ask(servers[index % 2] ?? { url: "" }, `/approvals/${id}/decision`, {
          token: index % 3 === 0 ? DECIDER : TOKEN,
          body: { approved, argsHash },
        }).then((answer) => {
          if (answer.status !== 200) expect(answer.status).toBe(409);
          return {
            won: answer.status === 200,
            message: answer.status === 200 ? "" : errorOf(answer).message,
          };
        });
      }),
    );
    expect(all.filter(({ won }) => won)).toHaveLength(1);
    const [settled] = await runtime.approvals({ runId: "r" });
    const when = new Date(settled?.decidedAtMs ?? 0).toISOString();
    for (const { won, message } of all) {
      if (won) continue;
      expect(message).toContain(`by ${settled?.decidedBy}`);
      expect(message).toContain(`"${settled?.status}"`);
      expect(message).toContain(when);
    }
  });

  test("a decision on a settled request returns 409, with who decided, what and when as data", async () => {
    const store = await freshStore(kind);
    const server = await startServer({ store });
    const runtime = openRuntime(store);
    const { id, argsHash } = await requestPayment(runtime, "r");
    const decide = (token: string, approved: boolean): Promise<Answer> =>
      ask(server, `/approvals/${id}/decision`, { token, body: { approved, argsHash } });
    expect((await decide(DECIDER, false)).body).toMatchObject({ status: "denied", decidedBy: "alice" });
    const late = await decide(TOKEN, true);
    expect(late.status).toBe(409);
    expect(errorOf(late)).toMatchObject({
      code: "TOOL_APPROVAL_SETTLED",
      message: expect.stringContaining("alice"),
      details: { status: "denied", decidedBy: "alice", decidedAtMs: expect.any(Number) },
    });
  });

  test("the request of an <Approval> node has no arguments, and an empty argsHash", async () => {
    const server = await startServer({ store: await freshStore(kind), workflows: { release } });
    const events = await openEvents(server);
    await ask(server, "/runs", { body: { workflow: "release", runId: "r" } });
    await events.until(({ data }) => JSON.stringify(data).includes("waiting-approval"));
    const { approvals } = (await ask(server, "/approvals?status=pending&run=r")).body as {
      approvals: { id: string; argsHash: string }[];
    };
    expect(approvals).toMatchObject([{ kind: "task", argsHash: "", schema: null }]);
    const answer = await ask(server, `/approvals/${approvals[0]?.id}/decision`, {
      body: { approved: true, argsHash: approvals[0]?.argsHash },
    });
    expect(answer).toMatchObject({ status: 200, body: { status: "approved", decidedBy: "operator" } });
  });

  test("an interrupted effect takes one of three answers, and a bare yes or no is refused", async () => {
    const store = await freshStore(kind);
    const server = await startServer({ store });
    const runtime = openRuntime(store);
    const isCharging = Promise.withResolvers<void>();
    const charge = createCharge(isCharging.resolve);
    const cut = new AbortController();
    const begun = runtime.call(charge, { euros: 5 }, { runId: "r", signal: cut.signal });
    await isCharging.promise;
    cut.abort();
    await begun.catch(() => undefined);
    expect((await runtime.call(charge, { euros: 5 }, { runId: "r" })).status).toBe("pending");
    const { approvals } = (await ask(server, "/approvals?status=pending")).body as {
      approvals: { id: string; argsHash: string }[];
    };
    const [request] = approvals;
    expect(request).toMatchObject({ kind: "replay", resolutions: ["happened", "run-again", "give-up"] });
    const path = `/approvals/${request?.id}/decision`;
    const argsHash = request?.argsHash;
    for (const body of [
      { approved: true, argsHash },
      { approved: false, argsHash },
      { resolution: "run-again", argsHash, output: { paid: 5 } },
      { resolution: "happened", argsHash, output: { paid: "much" } },
    ])
      expect([body, (await ask(server, path, { body })).status]).toEqual([body, 422]);
    const settled = await ask(server, path, {
      body: { resolution: "happened", argsHash, output: { paid: 5 } },
    });
    expect(settled).toMatchObject({ status: 200, body: { resolution: "happened", decidedBy: "operator" } });
    expect(await runtime.call(charge, { euros: 5 }, { runId: "r" })).toMatchObject({
      status: "success",
      output: { paid: 5 },
    });
  });

  test("edited arguments are checked against the schema, and count once they fit", async () => {
    const store = await freshStore(kind);
    const server = await startServer({ store });
    const { id, argsHash } = await requestPayment(openRuntime(store), "r");
    const path = `/approvals/${id}/decision`;
    const wrong = await ask(server, path, {
      body: { approved: true, argsHash, approvedArgs: { euros: "many", to: "Ada" } },
    });
    expect(wrong.status).toBe(422);
    expect(errorOf(wrong).message).toContain("euros");
    const right = await ask(server, path, {
      body: { approved: true, argsHash, approvedArgs: { euros: 4, to: "Ada" } },
    });
    expect(right).toMatchObject({ status: 200, body: { approvedArgs: { euros: 4, to: "Ada" } } });
  });
});
