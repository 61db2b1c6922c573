/**
 * Resolves which turn an invoke is: the stored turn with the same input, the next turn, or the first turn of a branch. An
 * invoke from a state that another turn has continued starts a branch, whose run id derives from its input.
 */
import { randomUUID } from "node:crypto";
import { ToolwrightError } from "../errors.ts";
import { PastTurn } from "../loop/run-turn.ts";
import type { Store } from "../store/store.ts";
import {
  beganJsonOf,
  lastTurn,
  readTurns,
  turnByInput,
  turnOf,
  type TurnRow,
} from "../store/tables/turns.ts";
import { decode } from "../util/encode.ts";
import { digest } from "../util/hash.ts";
import type { MessageMemory } from "./message-memory.ts";
import type { AgentMessage } from "../model/messages.ts";
import type { StoredResult } from "./stored-result.ts";
import { type AgentInput, type ContextState, turnOfState } from "./state.ts";
import type { Plan } from "../invoke/events.ts";
import { NO_PLAN, planIn } from "./tools/todo-list.ts";

/** The input of a turn, as it is stored. Its field names are part of the stored format. */
export interface TurnInput {
  /** The number of messages, and the hash of all of them. */
  readonly count: number;
  readonly hash: string;
  /** How many of them earlier turns of the run have stored; `said` has the rest. */
  readonly after: number;
  readonly said: readonly AgentMessage[];
  readonly plan: Plan;
  readonly context: ContextState | null;
  /** Runs that this one branched off from, oldest first. */
  readonly ancestors: readonly string[];
}

export interface ResolvedTurn {
  readonly runId: string;
  readonly messages: readonly AgentMessage[];
  readonly inputHash: string;
  readonly turnInput: TurnInput;
  readonly follows: (last: PastTurn) => boolean;
  /** The last turn of the run, if there is one. */
  readonly lastTurn: PastTurn | undefined;
  /** No other turn has continued the state yet. If another invoke does so first, this one becomes a branch. */
  readonly mayBecomeBranch: boolean;
  /** It continues from a state. A running invoke with the same input shares its result with this one. */
  readonly mayShare: boolean;
}

export async function resolveTurn(
  store: Store,
  input: AgentInput,
  memory: MessageMemory,
): Promise<ResolvedTurn> {
  const { runId = randomUUID() } = input;
  if (input.messages === undefined) return lastTurnOfRun(store, runId, memory);
  const lastRow = input.runId === undefined ? undefined : await store.read(() => lastTurn(runId));
  const last = lastRow === undefined ? undefined : new PastTurn(lastRow);
  const { messages, hashes } = memory.recall(input.messages, runId);
  const turn = turnOfState(input);
  if (turn === undefined) return turnFor(store, runId, messages, hashes, input, last);
  const row = lastRow?.turn === turn.number ? lastRow : await store.read(() => turnOf(runId, turn.number));
  if (row === undefined) throw notFound(runId);
  if (row.inputHash !== hashes[turn.began]) throw foreignState(runId);
  if (messages.length === turn.length) {
    return turnFor(store, runId, messages.slice(0, turn.began), hashes, input, last);
  }
  const inputHash = hashes.at(-1) ?? "";
  // A repeated invoke, after a crash or a lost response, resumes the turn that it started.
  const isStarted = (await store.read(() => turnByInput(runId, inputHash))) !== undefined;
  const isNext = last?.row.turn === turn.number && last.row.resultJson !== null && isAfter(last, hashes);
  if (isStarted || isNext) {
    const turnHere = await turnFor(store, runId, messages, hashes, input, last);
    return { ...turnHere, mayBecomeBranch: !isStarted, mayShare: true };
  }
  const branch = `branch-${digest([runId, inputHash]).slice(0, 24)}`;
  const ancestors = await ancestorsOf(store, row);
  return {
    ...(await turnFor(store, branch, messages, hashes, input, undefined, [...ancestors, runId])),
    mayShare: true,
  };
}

async function turnFor(
  store: Store,
  runId: string,
  messages: readonly AgentMessage[],
  hashes: readonly string[],
  input: AgentInput,
  last: PastTurn | undefined,
  ancestors: readonly string[] = [],
): Promise<ResolvedTurn> {
  const inputHash = hashes[messages.length] ?? "";
  const isPast = last !== undefined && last.row.kind === AGENT_TURN && isAfter(last, hashes);
  const record = isPast ? last.row : undefined;
  const result = isPast ? (last.result as StoredResult | undefined) : undefined;
  const after = result?.end.count ?? 0;
  return {
    runId,
    messages,
    inputHash,
    turnInput: {
      count: messages.length,
      hash: inputHash,
      after,
      said: messages.slice(after),
      plan: result?.plan ?? planIn(input.plan) ?? NO_PLAN,
      context: result === undefined ? (input.context ?? null) : result.context,
      ancestors: record === undefined ? ancestors : await ancestorsOf(store, record, result),
    },
    follows: (found) => isAfter(found, hashes),
    lastTurn: last,
    mayBecomeBranch: false,
    mayShare: false,
  };
}

export const AGENT_TURN = "agent";

/** Whether messages with these hashes continue the past turn: its end, or its input while it has not ended. */
function isAfter({ row, result }: PastTurn, hashes: readonly string[]): boolean {
  if (result === undefined) return hashes.slice(0, -1).includes(row.inputHash);
  const { count, hash } = (result as StoredResult).end;
  return hashes.length > count + 1 && hashes[count] === hash;
}

/** The runs that the run of this turn branched off from. Its result has them since 0.2, its input always. */
async function ancestorsOf(store: Store, turn: TurnRow, result?: StoredResult): Promise<readonly string[]> {
  if (result?.ancestors !== undefined) return result.ancestors;
  return (decode(await store.read(() => beganJsonOf(turn))) as TurnInput).ancestors;
}

/** The last turn of a run, for an input with a run id and no messages. */
async function lastTurnOfRun(store: Store, runId: string, memory: MessageMemory): Promise<ResolvedTurn> {
  const turns = await store.read(() => readTurns(runId));
  const last = turns.at(-1);
  if (last === undefined || last.kind !== AGENT_TURN) throw notFound(runId);
  const inputs = turns.map(({ beganJson }) => decode(beganJson) as TurnInput);
  const messages: AgentMessage[] = [];
  turns.forEach(({ resultJson }, index) => {
    const { after, said } = inputs[index] as TurnInput;
    const isPast = index < turns.length - 1 && resultJson !== null;
    const added = isPast ? (decode(resultJson) as StoredResult).added : [];
    messages.length = after;
    // One by one: spreading a long list would exceed the limit for arguments.
    for (const message of [...said, ...added]) messages.push(message);
  });
  return {
    runId,
    messages: messages.map((message) => memory.keep(message)),
    inputHash: last.inputHash,
    turnInput: inputs.at(-1) as TurnInput,
    follows: () => false,
    lastTurn: undefined,
    mayBecomeBranch: false,
    mayShare: false,
  };
}

function notFound(runId: string): ToolwrightError {
  return new ToolwrightError("TOOL_RUN_NOT_FOUND", `This store has no agent run "${runId}".`, {
    details: { runId },
  });
}

function foreignState(runId: string): ToolwrightError {
  return new ToolwrightError(
    "TOOL_RUN_TAKEN",
    `The state names run "${runId}", but that run started with different messages.`,
    {
      details: { runId },
      hint: "Use the state as invoke returned it, or start another run with its messages.",
    },
  );
}
