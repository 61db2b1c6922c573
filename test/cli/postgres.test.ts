/** The same commands on a PostgreSQL store. */
import { expect, it } from "vitest";
import { freshPostgres } from "../postgres/fresh-postgres.ts";
import { createFolder, toolwright } from "./command.ts";
import { QUESTIONS } from "./workflows.ts";

it("runs, waits, is decided and goes on in PostgreSQL, and never prints the password", async () => {
  const address = await freshPostgres();
  const folder = createFolder({ "w.tsx": QUESTIONS });
  const on = (...args: string[]) => toolwright(folder, [...args, "--store", address, "--json"]);
  const waiting = await on("up", "w.tsx", "--run-id", "p");
  expect(waiting.stderr).toBe("");
  expect(waiting.json()).toMatchObject({ status: "waiting-approval" });
  const password = new URL(address).password;
  const { stdout } = await toolwright(folder, ["why", "p", "--store", address]);
  if (password !== "") expect(waiting.stdout + stdout).not.toContain(`:${password}@`);
  expect((await on("ps")).json()).toMatchObject([
    { runId: "p", tasks: { waiting: 1 }, currentTask: "start" },
  ]);
  expect((await on("inspect", "p")).json()).toMatchObject({ approvals: [{ nodeId: "start" }] });
  for (const decision of ["approve", "approve"]) {
    expect(await on(decision, "p")).toMatchObject({ code: 0 });
    await on("resume", "p");
  }
  expect((await on("why", "p")).json()).toMatchObject({ status: "finished" });
  expect((await on("calls", "p")).json()).toMatchObject([{ toolName: "pay", status: "success" }]);
  expect((await on("doctor")).json()).toMatchObject({ ok: true });
});
