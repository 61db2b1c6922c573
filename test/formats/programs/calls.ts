/** Programs of single calls. Each starts its run, or resumes the run if it exists. */
import { createRuntime, type Outcome } from "toolwright";
import { createTools } from "./tools.ts";
import { ARGUMENTS, OUTPUT_VALUES } from "./values.ts";

export interface ProgramInput {
  readonly store: string;
  readonly worldUrl: string;
}

/** Equal calls, calls with a key of the caller's, and calls at every part of a scope's identity. */
export async function bareCalls({ store, worldUrl }: ProgramInput): Promise<unknown[]> {
  const { pay } = createTools(worldUrl);
  await using runtime = createRuntime({ store });
  const results = [];
  for (const [id, options] of [
    ["bare", { runId: "bare" }],
    ["bare", { runId: "bare" }],
    ["hook", { runId: "bare", callKey: "delivery 1" }],
    ["node", { runId: "bare", nodeId: "other" }],
    ["iteration", { runId: "bare", nodeId: "other", iteration: 3 }],
    ["path", { runId: "bare", nodeId: "other", iteration: 2, loopPath: [1, 2] }],
    ["held", { runId: "bare" }],
  ] as const) {
    results.push(await runtime.call(pay, { id }, options));
  }
  return results;
}

export async function businessKeys({ store, worldUrl }: ProgramInput): Promise<unknown[]> {
  const { ship } = createTools(worldUrl);
  await using runtime = createRuntime({ store });
  const results = [];
  for (const order of ["one", "two", "held"])
    results.push(await runtime.call(ship, { order }, { runId: "business" }));
  return results;
}

export async function cachedCalls({ store, worldUrl }: ProgramInput): Promise<unknown[]> {
  const { lookUp, lookUpInRun } = createTools(worldUrl);
  await using runtime = createRuntime({ store });
  return [
    await runtime.call(lookUp, { id: "one" }, { runId: "cached" }),
    await runtime.call(lookUpInRun, { id: "one" }, { runId: "cached" }),
  ];
}

export async function redactedCalls({ store, worldUrl }: ProgramInput): Promise<unknown[]> {
  const { issueToken, logIn } = createTools(worldUrl);
  await using runtime = createRuntime({ store });
  const results = [];
  for (const password of ["first secret", "second secret!"])
    results.push(await runtime.call(logIn, { user: "ada", password }, { runId: "redacted" }));
  results.push(await runtime.call(issueToken, { user: "ada" }, { runId: "redacted" }));
  return results;
}

export async function outputValues({ store, worldUrl }: ProgramInput): Promise<Record<string, unknown>> {
  const { makeValue } = createTools(worldUrl);
  await using runtime = createRuntime({ store });
  const results: Record<string, unknown> = {};
  for (const name of Object.keys(OUTPUT_VALUES)) {
    const outcome = await runtime.call(makeValue, { name }, { runId: "outputs" });
    results[name] = outcome.status === "success" ? outcome.output : outcome;
  }
  return results;
}

/** An error as an argument, which had the text of every other error: redacted, with a business key, and approved. */
export async function errorArguments({ store, worldUrl }: ProgramInput): Promise<Outcome[]> {
  const { keepApproved, keepHidden, keepOnce } = createTools(worldUrl);
  const value = new Error("a");
  await using runtime = createRuntime({ store });
  const approved = await runtime.call(keepApproved, { value }, { runId: "errors" });
  if (approved.status === "pending")
    await runtime.resolveToolApproval(approved.approval.id, { approved: true });
  return [
    approved,
    await runtime.call(keepHidden, { value }, { runId: "errors" }),
    await runtime.call(keepOnce, { order: "one", value }, { runId: "errors" }),
  ];
}

/** Ends with a call that is held when the store is made. */
export async function argumentValues({ store, worldUrl }: ProgramInput): Promise<unknown[]> {
  const { keep, pay } = createTools(worldUrl);
  await using runtime = createRuntime({ store });
  return runtime.run({ runId: "arguments" }, async () => {
    const results = [];
    for (const value of ARGUMENTS) results.push(await keep.execute({ value }));
    results.push(await pay.execute({ id: "arguments held" }));
    return results;
  });
}
