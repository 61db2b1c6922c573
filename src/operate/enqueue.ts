/** Puts a run into the queue: a worker that knows its name starts it. */
import { randomUUID } from "node:crypto";
import {
  aRunId,
  aStorableValue,
  anInteger,
  type Check,
  must,
  oneOf,
  someLabels,
} from "../definition/option-checks.ts";
import { checkOptions, optionTable, type OptionTable } from "../definition/option-table.ts";
import { describe } from "../definition/option-checks.ts";
import { ToolwrightError } from "../errors.ts";
import type { Host } from "../invoke/host.ts";
import { refusal } from "../runtime/options.ts";
import type { EnqueuedRun, EnqueueOptions } from "../runtime/runtime.ts";
import { insertQueuedRun, type Served } from "../store/tables/queue.ts";
import { type ProgramInput, readProgramInput } from "../store/tables/program-claims.ts";
import { readRunRow } from "../store/tables/runs.ts";
import { readRun } from "../store/tables/workflow-runs.ts";
import { canonicalText } from "../util/canonical.ts";
import { decode, encode } from "../util/encode.ts";
import { keyedHash } from "../util/hash.ts";
import { listWorkers } from "./list-workers.ts";

/** The latest time of a `Date`. */
const LATEST_MS = 8.64e15;

const aTime: Check = must(
  (value) =>
    (value instanceof Date && !Number.isNaN(value.getTime())) ||
    (typeof value === "number" && value >= 0 && value <= LATEST_MS),
  "a Date, or a number of milliseconds since 1970 that a Date can hold",
);

export const ENQUEUE_OPTIONS: OptionTable = optionTable<EnqueueOptions>(
  "runtime.enqueue",
  {
    input: aStorableValue,
    runId: aRunId,
    startAt: aTime,
    priority: anInteger(Number.MIN_SAFE_INTEGER),
    labels: someLabels,
    kind: oneOf("workflow", "agent", "program"),
  },
  { example: "{ input }" },
);

const LONGEST_NAME = 200;

/**
 * The same id, name and input again is the same run.
 * @throws WORKFLOW_RUN_EXISTS when the id belongs to another run
 */
export async function enqueueRun(
  host: Host,
  name: string,
  options: EnqueueOptions = {},
): Promise<EnqueuedRun> {
  if (typeof name !== "string" || name === "" || name.length > LONGEST_NAME)
    throw refusal(
      "name",
      `must be the name of a workflow, a string of 1 to ${LONGEST_NAME} characters, not ${describe(name)}`,
    );
  checkOptions(ENQUEUE_OPTIONS, options);
  const { runId = randomUUID(), startAt, priority = 0, labels } = options;
  const kind = options.kind ?? (await kindOf(host, name));
  const input = options.input ?? {};
  const inputJson = encode(input);
  const createdAtMs = host.clock.now();
  const startAtMs = startAt === undefined ? null : Math.ceil(Number(startAt));
  const isNew = await host.store.transaction(
    () =>
      insertQueuedRun({
        runId,
        kind,
        name,
        inputJson,
        // The store is open here, and has its secret.
        inputHash: kind === "workflow" ? undefined : hashOf(host, input),
        optionsJson: encode({}),
        createdAtMs,
        startAtMs,
        priority,
        labels,
      }),
    "full",
  );
  if (!isNew) await assertSame(host, { runId, kind, name, input });
  return { runId };
}

/** Workers report the kind of each name that they serve. If no worker serves the name, it is a workflow. */
async function kindOf({ store }: Host, name: string): Promise<Served["kind"]> {
  const workers = await listWorkers(store);
  const served = workers
    .filter(({ status }) => status !== "dead")
    .flatMap(({ serves }) => serves)
    .find((one) => one.name === name);
  return served?.kind ?? "workflow";
}

interface GivenRun {
  readonly runId: string;
  readonly kind: Served["kind"];
  readonly name: string;
  readonly input: unknown;
}

async function assertSame(host: Host, run: GivenRun): Promise<void> {
  const { runId } = run;
  const row = await host.store.read(() => readRunRow(runId));
  const isSameRun = row?.kind === run.kind && row.name === run.name;
  if (isSameRun && (await hasInput(host, run))) return;
  throw new ToolwrightError(
    "WORKFLOW_RUN_EXISTS",
    `Run "${runId}" already exists${row === undefined ? "" : `: its status is "${row.state}"`}, with another name or input.`,
    { details: { runId, status: row?.state ?? null }, hint: "Use another runId." },
  );
}

async function hasInput(host: Host, { runId, kind, input }: GivenRun): Promise<boolean> {
  const { store } = host;
  if (kind !== "workflow") {
    const stored = await store.read(() => readProgramInput(runId));
    return stored === undefined || hasProgramInput(host, kind, stored, input);
  }
  const workflow = await store.read(() => readRun(runId));
  if (workflow === undefined) return true;
  const stored = decode(workflow.inputJson);
  // The first process that takes the run stores the input as the schema parsed it, with the digest of the code.
  return workflow.shape === "" ? isEqual(stored, input) : covers(stored, input);
}

function hasProgramInput(
  host: Host,
  kind: "agent" | "program",
  { inputJson, inputHash, isEnqueued }: ProgramInput,
  input: unknown,
): boolean {
  if (inputHash !== null) return inputHash === hashOf(host, input);
  if (inputJson !== null) return isEqual(decode(inputJson), input);
  // It is not known. An agent that was not enqueued has its own conversation, and the input would be dropped.
  return kind === "program" || isEnqueued;
}

function hashOf({ store }: Host, input: unknown): string {
  return keyedHash(store.secret, canonicalText(input));
}

function isEqual(stored: unknown, given: unknown): boolean {
  return canonicalText(stored) === canonicalText(given);
}

/** A run that has started holds its input as the schema parsed it: defaults were added, at any depth. */
function covers(stored: unknown, given: unknown): boolean {
  if (isEqual(stored, given)) return true;
  if (!isPlain(stored) || !isPlain(given) || Array.isArray(stored) !== Array.isArray(given)) return false;
  if (Array.isArray(given) && given.length !== Object.keys(stored).length) return false;
  return Object.entries(given).every(([key, value]) => covers(stored[key], value));
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null || Array.isArray(value);
}
