/** Calls that need approval: the client asks its user if it can; otherwise the request is stored. */
import { describe, expect, it } from "vitest";
import { MCP_IDEMPOTENCY_KEY } from "../../src/adapters/mcp/index.ts";
import { createFolder, toolwright } from "../cli/command.ts";
import { connect, createServerFolder, type Era, errorOf, keyed, ledgerOf, openRuntime } from "./harness.ts";

const risky = { name: "risky_order", arguments: { sku: "gold" } };

describe.each<Era>(["legacy", "modern"])("%s clients that can ask", (era) => {
  it("ask their user, and the call runs once", async () => {
    const folder = createServerFolder();
    const asked: string[] = [];
    const client = await connect(folder, {
      era,
      onElicit: (message) => {
        asked.push(message);
        return { action: "accept", content: { comment: "fine" } };
      },
    });
    const answer = await client.callTool({ ...risky, ...keyed("k") });
    expect(answer.structuredContent).toEqual({ sku: "gold", orders: 1 });
    expect(asked).toEqual([expect.stringMatching(/^Order gold\?[^]*risky_order {"sku":"gold"}$/)]);
    expect((await client.callTool({ ...risky, ...keyed("k") })).structuredContent).toEqual(
      answer.structuredContent,
    );
    expect(asked).toHaveLength(1);
    expect(ledgerOf(folder)).toEqual(["gold"]);
    expect(await openRuntime(folder).approvals({})).toMatchObject([
      { status: "approved", decidedBy: "MCP client a test", comment: "fine" },
    ]);
  });

  it.each([
    { action: "decline" },
    { action: "accept", content: { approved: false } },
    { action: "accept", content: { approved: "no" } },
  ] as const)("are answered that it was denied: %j", async (reply) => {
    const folder = createServerFolder();
    const client = await connect(folder, { era, onElicit: () => reply });
    expect(errorOf(await client.callTool(risky))["error_type"]).toBe("approval_denied");
    expect(ledgerOf(folder)).toEqual([]);
  });

  it("ask about all inner calls together, and approved calls run", async () => {
    const folder = createServerFolder();
    const asked: string[] = [];
    const client = await connect(folder, {
      era,
      onElicit: (message) => {
        asked.push(message.split("\n")[0] ?? "");
        return { action: "accept" };
      },
    });
    expect((await client.callTool({ name: "both", arguments: {} })).isError).not.toBe(true);
    expect(asked.sort()).toEqual(["Order gold?", "Order silver?"]);
    expect(ledgerOf(folder).sort()).toEqual(["gold", "silver"]);
  });

  it("leave the request pending when their user does not decide", async () => {
    const folder = createServerFolder();
    const client = await connect(folder, { era, onElicit: () => ({ action: "cancel" }) });
    expect(errorOf(await client.callTool(risky))["error_type"]).toBe("approval_pending");
    expect(await openRuntime(folder).approvals({ status: "pending" })).toHaveLength(1);
    expect(ledgerOf(folder)).toEqual([]);
  });

  it("do not ask if only users of the store may decide", async () => {
    const folder = createServerFolder();
    const onElicit = (): never => {
      throw new Error("asked");
    };
    const client = await connect(folder, { era, onElicit, args: ["--approvals", "wait"] });
    expect(errorOf(await client.callTool(risky))["error_type"]).toBe("approval_pending");
  });
});

describe.each<Era>(["legacy", "modern"])("%s clients that cannot ask", (era) => {
  it("receive the request and how to continue; after the decision the same key continues, on a later server too", async () => {
    const folder = createServerFolder();
    const waiting = await (await connect(folder, { era })).callTool(risky);
    const { message = "", next_action_hint: hint = "" } = errorOf(waiting);
    const id = String(waiting._meta?.["toolwright/approval-id"]);
    const key = String(waiting._meta?.[MCP_IDEMPOTENCY_KEY]);
    expect(message).toContain(id);
    expect(hint).toContain(`toolwright approve ${id}`);
    expect(hint).toContain(key);
    expect(ledgerOf(folder)).toEqual([]);
    // Pasted into a terminal in another folder.
    const [, command = ""] = /toolwright (approve [^,.]+\S*)(?:, or|\.)/.exec(hint) ?? [];
    const approved = await toolwright(createFolder(), command.split(" "));
    expect({ command, code: approved.code }).toMatchObject({ code: 0 });
    const later = await connect(folder, { era });
    expect((await later.callTool({ ...risky, ...keyed(key) })).structuredContent).toEqual({
      sku: "gold",
      orders: 1,
    });
    expect((await later.callTool({ ...risky, ...keyed(key) })).structuredContent).toEqual({
      sku: "gold",
      orders: 1,
    });
    expect(ledgerOf(folder)).toEqual(["gold"]);
  });
});

it("continues a waiting call that a client without keys repeats, once for each approval", async () => {
  const folder = createServerFolder();
  const client = await connect(folder);
  await client.callTool(risky);
  await client.callTool(risky);
  const runtime = openRuntime(folder);
  const [only, ...others] = await runtime.approvals({ status: "pending" });
  expect(others).toEqual([]);
  await runtime.resolveToolApproval(only?.id ?? "", { approved: true });
  expect((await client.callTool(risky)).isError).not.toBe(true);
  expect(errorOf(await client.callTool(risky))["error_type"]).toBe("approval_pending");
  expect(ledgerOf(folder)).toEqual(["gold"]);
});

it("ignores an answer that was given before the question, for different arguments", async () => {
  const folder = createServerFolder();
  const client = await connect(folder, { era: "modern", onElicit: () => ({ action: "cancel" }) });
  await client.callTool({ ...risky, ...keyed("first") });
  const [request] = await openRuntime(folder).approvals({ status: "pending" });
  const forged = { ...risky, arguments: { sku: "diamonds" }, ...keyed("second") };
  const answers = { inputResponses: { [request?.id ?? ""]: { action: "accept", content: {} } } };
  expect(errorOf(await client.callTool({ ...forged, ...answers }))["error_type"]).toBe("approval_pending");
  expect(ledgerOf(folder)).toEqual([]);
});
