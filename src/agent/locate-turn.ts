/**
 * Which invoke this is: the one on record that began with the same, the next one, or, where a state is taken up from which
 * the run has gone on otherwise, the first of a branch with a run id of its own. A branch has the same id each time.
 */
import { randomUUID } from "node:crypto";
import { ToolwrightError } from "../errors.ts";
import type { PastTurn } from "../loop/run-turn.ts";
import type { Store } from "../store/store.ts";
import { lastTurn, readTurns, turnByInput, turnOf, type TurnRow } from "../store/tables/turns.ts";
import { decode } from "../util/encode.ts";
import { digest } from "../util/hash.ts";
import type { MessageMemory } from "./message-memory.ts";
import type { AgentMessage } from "../model/messages.ts";
import type { KeptResult } from "./kept-result.ts";
import { type AgentInput, type ContextState, turnOfState } from "./state.ts";
import type { Plan } from "../invoke/events.ts";
import { NO_PLAN, planIn } from "./tools/todo-list.ts";

/** What an invoke began with, as it is kept. */
export interface Began {
  /** How many messages, and the hash of all of them. */
  readonly count: number;
  readonly hash: string;
  /** How many of them stand on record with earlier invokes of the run; the others are here. */
  readonly after: number;
  readonly said: readonly AgentMessage[];
  readonly plan: Plan;
  readonly context: ContextState | null;
  /** Runs that this one branched off from, the first one first. */
  readonly ancestors: readonly string[];
}

export interface LocatedTurn {
  readonly runId: string;
  readonly messages: readonly AgentMessage[];
  readonly inputHash: string;
  readonly began: Began;
  readonly follows: (record: { readonly last: PastTurn }) => boolean;
  /** It is the first to continue from a state. Another invoke from the same state may be faster: then it is a branch. */
  readonly mayBecomeBranch: boolean;
  /** It continues from a state. If an invoke with the same input is at work, the result of that one is its result too. */
  readonly mayShare: boolean;
}

export async function locateTurn(
  store: Store,
  input: AgentInput,
  memory: MessageMemory,
): Promise<LocatedTurn> {
  const { runId = randomUUID() } = input;
  const last = input.runId === undefined ? undefined : await store.read(() => lastTurn(runId));
  if (input.messages === undefined) return fromRecord(store, runId, last, memory);
  const { messages, hashes } = memory.recall(input.messages);
  const turn = turnOfState(input);
  if (turn === undefined) return located(runId, messages, hashes, input, last);
  const row = await store.read(() => turnOf(runId, turn.number));
  if (row === undefined) throw notFound(runId);
  if (row.inputHash !== hashes[turn.began]) throw strange(runId);
  if (messages.length === turn.length) {
    return located(runId, messages.slice(0, turn.began), hashes, input, last);
  }
  const inputHash = hashes.at(-1) ?? "";
  // Who asks again, after a crash or because no answer came, goes on with what was begun.
  const isBegun = (await store.read(() => turnByInput(runId, inputHash))) !== undefined;
  const isNext = last?.turn === turn.number && last.resultJson !== null && isAfter(pastOf(last), hashes);
  if (isBegun || isNext) {
    const turnHere = located(runId, messages, hashes, input, last);
    return { ...turnHere, mayBecomeBranch: !isBegun, mayShare: true };
  }
  const branch = `branch-${digest([runId, inputHash]).slice(0, 24)}`;
  const { ancestors } = decode(row.beganJson) as Began;
  return {
    ...located(branch, messages, hashes, input, undefined, [...ancestors, runId]),
    mayShare: true,
  };
}

function located(
  runId: string,
  messages: readonly AgentMessage[],
  hashes: readonly string[],
  input: AgentInput,
  last: TurnRow | undefined,
  ancestors: readonly string[] = [],
): LocatedTurn {
  const inputHash = hashes[messages.length] ?? "";
  const past = last === undefined || last.kind !== AGENT_TURN ? undefined : pastOf(last);
  const record = past !== undefined && isAfter(past, hashes) ? past : undefined;
  const result = record?.result as KeptResult | undefined;
  const after = result?.end.count ?? 0;
  return {
    runId,
    messages,
    inputHash,
    began: {
      count: messages.length,
      hash: inputHash,
      after,
      said: messages.slice(after),
      plan: result?.plan ?? planIn(input.plan) ?? NO_PLAN,
      context: result === undefined ? (input.context ?? null) : result.context,
      ancestors: record === undefined ? ancestors : (record.began as Began).ancestors,
    },
    follows: (found) => isAfter(found.last, hashes),
    mayBecomeBranch: false,
    mayShare: false,
  };
}

export const AGENT_TURN = "agent";

/** Whether messages with these hashes go on from where that one ended, or, if it has not, from what it began with. */
function isAfter({ began, result }: PastTurn, hashes: readonly string[]): boolean {
  const { count, hash } = result === undefined ? (began as Began) : (result as KeptResult).end;
  return hashes.length > count + 1 && hashes[count] === hash;
}

function pastOf({ beganJson, resultJson }: TurnRow): PastTurn {
  return { began: decode(beganJson), result: resultJson === null ? undefined : decode(resultJson) };
}

/** By the id of a run alone: its last invoke. */
async function fromRecord(
  store: Store,
  runId: string,
  last: TurnRow | undefined,
  memory: MessageMemory,
): Promise<LocatedTurn> {
  if (last === undefined || last.kind !== AGENT_TURN) throw notFound(runId);
  const messages: AgentMessage[] = [];
  for (const row of await store.read(() => readTurns(runId))) {
    const { after, said } = decode(row.beganJson) as Began;
    const isPast = row.turn !== last.turn && row.resultJson !== null;
    const added = isPast ? (decode(row.resultJson ?? "") as KeptResult).added : [];
    messages.length = after;
    // One by one: a list of any length is no list of arguments.
    for (const message of [...said, ...added]) messages.push(message);
  }
  return {
    runId,
    messages: messages.map((message) => memory.keep(message)),
    inputHash: last.inputHash,
    began: decode(last.beganJson) as Began,
    follows: () => false,
    mayBecomeBranch: false,
    mayShare: false,
  };
}

function notFound(runId: string): ToolwrightError {
  return new ToolwrightError("TOOL_RUN_NOT_FOUND", `There is no agent's run "${runId}" in this store.`, {
    details: { runId },
  });
}

function strange(runId: string): ToolwrightError {
  return new ToolwrightError(
    "TOOL_RUN_TAKEN",
    `The state says that it is of run "${runId}", but that was begun with other messages.`,
    {
      details: { runId },
      hint: "Use the state as invoke returned it, or begin another run with its messages.",
    },
  );
}
