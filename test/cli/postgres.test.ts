/** The same commands on a PostgreSQL store. */
import { expect, it } from "vitest";
import { freshPostgres } from "../postgres/fresh-postgres.ts";
import { createFolder, toolwright } from "./command.ts";
import { QUESTIONS } from "./workflows.ts";

it("runs, waits, is decided and resumes in PostgreSQL, and never prints the password", async () => {
  const url = new URL(await freshPostgres());
  if (url.password === "") url.password = "very-secret-word";
  const { href: address, password } = url;
  const folder = createFolder({ "w.tsx": QUESTIONS });
  const on = (...args: string[]) => toolwright(folder, [...args, "--store", address, "--json"]);
  const waiting = await on("up", "w.tsx", "--run-id", "p");
  expect(waiting.stderr).toBe("");
  expect(waiting.json()).toMatchObject({ status: "waiting-approval" });
  const said = [waiting.stdout];
  for (const words of [["why", "p"], ["why", "missing"], ["doctor"]]) {
    const { stdout, stderr } = await toolwright(folder, [...words, "--store", address]);
    said.push(stdout, stderr);
  }
  expect(said.join("")).not.toContain(`:${password}@`);
  expect((await on("ps")).json()).toMatchObject([
    { runId: "p", tasks: 1, taskCounts: { waiting: 1 }, currentTask: "start" },
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
