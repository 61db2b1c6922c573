/**
 * A fixture: a recorded run, as a file that tests replay. This is a stored format (docs/internals/formats.md). Values
 * have the form of the store, as JSON: `util/encode.ts` describes its tags.
 */
import type { RecordedTool } from "../recording/record-tool.ts";
import type { RunKind } from "../events.ts";

export const FIXTURE_VERSION = 1;

export interface Fixture {
  readonly format: "toolwright-fixture";
  readonly version: number;
  /** SHA-256 of all other fields. */
  readonly checksum: string;
  readonly run: FixtureRun;
  /** The tools that the run called, by name. */
  readonly tools: Readonly<Record<string, RecordedTool>>;
  readonly tasks: readonly FixtureTask[];
  readonly turns: readonly FixtureTurn[];
  /** What functions given to `runtime.run` returned. */
  readonly results: readonly FixtureResult[];
  readonly responses: readonly FixtureResponse[];
  readonly calls: readonly FixtureCall[];
  /** Long texts, by their hash. */
  readonly bodies: Readonly<Record<string, string>>;
}

export interface FixtureError {
  readonly code: string;
  readonly message: string;
  readonly [field: string]: unknown;
}

export interface FixtureRun {
  readonly runId: string;
  readonly kind: RunKind;
  readonly name: string;
  readonly status: "finished" | "failed" | "cancelled";
  /** The run started with `recording: "keep"`: nothing is missing. */
  readonly complete: boolean;
  readonly file?: string | undefined;
  readonly input?: unknown;
  readonly error?: FixtureError | undefined;
}

export interface FixtureTask {
  readonly nodeId: string;
  readonly path: string;
  readonly attempt: number;
  readonly status: string;
  readonly output?: unknown;
  readonly error?: FixtureError | undefined;
}

/** A turn of a chat, or an invoke of an agent. */
export interface FixtureTurn {
  readonly turn: number;
  readonly kind: string;
  readonly input: unknown;
  readonly result?: unknown;
}

export interface FixtureResult {
  readonly nodeId: string;
  readonly path: string;
  readonly result: unknown;
}

interface FixturePlace {
  readonly nodeId: string;
  readonly path: string;
  readonly attempt: number;
}

export interface FixtureResponse extends FixturePlace {
  readonly position: number;
  /** Only if nothing is hidden in the run: then an equal request has an equal hash. */
  readonly requestHash?: string | undefined;
  /** The difference to an earlier request: see `loop/request-log.ts`. */
  readonly request?: unknown;
  readonly response: unknown;
}

export interface FixtureCall extends FixturePlace {
  readonly tool: string;
  readonly key: string;
  readonly seq: number;
  readonly status: "success" | "error" | "denied" | "pending" | "unknown" | "started";
  readonly input?: unknown;
  readonly output?: unknown;
  readonly error?: FixtureError | undefined;
  readonly note?: string | undefined;
  readonly fromCache?: boolean | undefined;
  readonly toolCallId?: string | undefined;
  readonly modelName?: string | undefined;
  readonly effect?: "none" | "happened" | undefined;
  readonly unrepeatable?: boolean | undefined;
  readonly reruns?: boolean | undefined;
  /** An equal call of an earlier attempt had the outcome. */
  readonly replayedFrom?: number | undefined;
  /** If the call was denied. */
  readonly approval?:
    | { readonly id: string; readonly kind: "call" | "replay" | "task"; readonly comment: string | null }
    | undefined;
}

/** One way in which a replay differs from the recorded run. */
export interface ReplayDifference {
  /** `request`: to a model. `call`: of a tool. `tool`: its definition. `result`: of a task, a turn or a program. `run`: its end. */
  readonly kind: "request" | "call" | "tool" | "result" | "run";
  readonly nodeId: string;
  /** The name of the tool, for a call. */
  readonly call?: string | undefined;
  /** The field that differs, such as `input.amount` or `messages.0.content`. `""`: all of it. */
  readonly path: string;
  /** `undefined`: the recorded run has nothing there. */
  readonly expected: unknown;
  /** `undefined`: the replay has nothing there. */
  readonly actual: unknown;
  /** What the recorded run has that is most like it. */
  readonly nearest: NearestRecord | null;
}

export interface NearestRecord {
  readonly attempt: number;
  /** If it is a call. */
  readonly key?: string | undefined;
  readonly tool?: string | undefined;
  readonly input?: unknown;
  /** If it is a request. */
  readonly position?: number | undefined;
}
