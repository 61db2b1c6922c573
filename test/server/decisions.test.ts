/** Decisions of one request from many sides: one counts, and the others learn who decided, what and when. */
import { describe, expect, test } from "vitest";
import { ToolwrightError } from "../../src/index.ts";
import { createFolder, toolwright } from "../cli/command.ts";
import { STORE_KINDS } from "../store-kinds.ts";
import {
  type Answer,
  ask,
  DECIDER,
  errorOf,
  freshStore,
  openRuntime,
  requestPayment,
  startServer,
  TOKEN,
} from "./harness.ts";

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

  test("a settled request answers 409, with who decided, what and when as data", async () => {
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
