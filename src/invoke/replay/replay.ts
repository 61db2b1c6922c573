/**
 * The source of a replay: answers calls and model requests from a fixture, and notes every difference. Nothing runs, and
 * nothing is requested.
 */
import { ToolwrightError } from "../../errors.ts";
import type { AskedModel } from "../asked-model.ts";
import type { Call } from "../call.ts";
import { decodeError } from "../error-record.ts";
import type { Result } from "../outcome.ts";
import { definitionOf } from "../recording/record-tool.ts";
import type { Scope } from "../scope.ts";
import { deniedApproval } from "./denied-approval.ts";
import { compare, isPlain, marksIn } from "./compare.ts";
import type { Fixture, FixtureCall, FixtureTask, NearestRecord, ReplayDifference } from "./fixture.ts";
import { decodeJson, type RecordedCall, RecordedCalls } from "./recorded-calls.ts";
import { RecordedRequests, type ResponseRequest } from "./recorded-requests.ts";

const MOST_DIFFERENCES = 200;

export class Replay {
  readonly fixture: Fixture;
  readonly differences: ReplayDifference[] = [];
  readonly #marks: ReadonlySet<string>;
  readonly #calls = new Map<string, RecordedCalls>();
  readonly #requests: RecordedRequests;
  readonly #tasks = new Map<string, FixtureTask>();
  readonly #started = new Set<FixtureTask>();
  readonly #reported = new Set<string>();
  readonly #checkedTools = new Set<string>();

  constructor(fixture: Fixture) {
    this.fixture = fixture;
    this.#marks = new Set(marksIn(JSON.stringify([fixture.calls, fixture.responses])));
    const groups = Map.groupBy(fixture.calls, locationOf);
    for (const [location, calls] of groups)
      this.#calls.set(
        location,
        new RecordedCalls(
          calls.toSorted((one, other) => one.seq - other.seq),
          this.#marks,
        ),
      );
    this.#requests = new RecordedRequests(fixture.responses, this.#marks);
    for (const task of fixture.tasks) this.#tasks.set(`${task.nodeId} ${task.path}`, task);
  }

  /** The outcome of a call. It is never run. */
  answer(call: Call): Result {
    const { scope, spec } = call;
    const calls = this.#calls.get(locationOf({ ...scope.identity, attempt: scope.attempt }));
    if (call.mode === "check") return { kind: "clear" };
    this.#checkTool(call);
    const matched = calls?.match(call);
    if (matched === undefined) return { kind: "error", error: this.#unexpected(call, calls) };
    const { recorded, differences } = matched;
    recorded.isUsed = true;
    for (const { path, expected, actual } of differences)
      this.#report({
        kind: "call",
        scope,
        call: spec.name,
        path,
        expected,
        actual,
        nearest: nearestOf(recorded),
      });
    // Loops show the key of a call to the model.
    call.key = recorded.call.key;
    call.note = recorded.call.note;
    return outcomeOf(call, recorded.call);
  }

  /**
   * The stored response to a request. `undefined` if there is none, for a value that is not a response.
   * @throws the error of the recorded run, where it had no response; TOOL_REPLAY_DIFFERS
   */
  respond(scope: Scope, request: ResponseRequest): { readonly value: unknown } | undefined {
    const location = locationOf({ ...scope.identity, attempt: scope.attempt });
    const matched = this.#requests.match(location, request);
    if (matched === undefined) {
      if (request.asked === undefined) return undefined;
      throw this.failureOf(scope) ?? this.#unexpectedRequest(scope, request.asked);
    }
    const { response, differences } = matched;
    const nearest: NearestRecord = { attempt: response.attempt, position: response.position };
    for (const { path, expected, actual } of differences)
      this.#report({ kind: "request", scope, path, expected, actual, nearest });
    return { value: decodeJson(response.response) };
  }

  /** The error of the recorded task, or of the run, if it failed in this attempt or before the next one. */
  failureOf({ identity, attempt }: Scope): ToolwrightError | undefined {
    const { nodeId, path } = identity;
    const { run } = this.fixture;
    const task = this.task(nodeId, path);
    if (task === undefined) return run.kind === "workflow" ? undefined : toError(run.error);
    if (attempt < task.attempt) return attemptFailed(nodeId, attempt);
    return attempt === task.attempt && task.status === "failed" ? toError(task.error) : undefined;
  }

  task(nodeId: string, path: string): FixtureTask | undefined {
    return this.#tasks.get(`${nodeId} ${path}`) ?? this.#tasks.get(`${nodeId} ${path === "0" ? "" : path}`);
  }

  noteStarted(task: FixtureTask): void {
    this.#started.add(task);
  }

  /** In a run that failed, a recorded task might not start before the failure: a replay is faster. */
  #mayBeUnused(location: { readonly nodeId: string; readonly path: string }): boolean {
    const { run } = this.fixture;
    const task = this.task(location.nodeId, location.path);
    return (
      run.kind === "workflow" && run.status === "failed" && task !== undefined && !this.#started.has(task)
    );
  }

  /** Whether a task has recorded responses or calls. */
  hasSteps(nodeId: string, path: string): boolean {
    const isOf = (one: { nodeId: string; path: string }): boolean =>
      one.nodeId === nodeId && (one.path === path || (path === "" && one.path === "0"));
    return this.fixture.responses.some(isOf) || this.fixture.calls.some(isOf);
  }

  /** The result of another library's tool, as the next request contains it. */
  foreignResult(toolCallId: string): { readonly output: unknown } | undefined {
    return this.#requests.resultOf(toolCallId);
  }

  /** @param expected `undefined` where nothing was recorded */
  compareResult(nodeId: string, expected: unknown, actual: unknown, path = ""): void {
    for (const found of compare(comparable(expected), comparable(actual), this.#marks, path))
      this.report({ kind: "result", nodeId, nearest: null, ...found });
  }

  /** At the end: the recorded steps that the replay did not repeat. */
  reportUnused(): void {
    const last = (location: { nodeId: string; path: string }): number =>
      this.task(location.nodeId, location.path)?.attempt ?? 1;
    for (const calls of this.#calls.values())
      for (const { call, input, isUsed } of calls.all)
        if (!isUsed && call.attempt >= last(call) && !this.#mayBeUnused(call))
          this.report({
            kind: "call",
            nodeId: call.nodeId,
            call: call.tool,
            path: "",
            expected: input,
            actual: undefined,
            nearest: { attempt: call.attempt, key: call.key, tool: call.tool, input },
          });
    for (const response of this.#requests.unused())
      if (response.attempt >= last(response) && !this.#mayBeUnused(response))
        this.report({
          kind: "request",
          nodeId: response.nodeId,
          path: "",
          expected: "a request to the model",
          actual: undefined,
          nearest: { attempt: response.attempt, position: response.position },
        });
  }

  report(difference: ReplayDifference): void {
    if (this.differences.length < MOST_DIFFERENCES) this.differences.push(difference);
  }

  /** A request repeats all messages before it: each difference is reported once. */
  #report({ scope, ...rest }: Omit<ReplayDifference, "nodeId"> & { readonly scope: Scope }): void {
    const { nodeId } = scope.identity;
    if (rest.kind === "request") {
      const name = JSON.stringify([nodeId, scope.identity.path, rest.path, rest.expected, rest.actual]);
      if (this.#reported.has(name)) return;
      this.#reported.add(name);
    }
    this.report({ ...rest, nodeId });
  }

  /** For calls of programs. What a model sees of a tool is part of its requests. */
  #checkTool({ spec, scope, toolCallId }: Call): void {
    const expected = this.fixture.tools[spec.name];
    if (toolCallId !== undefined || expected === undefined || this.#checkedTools.has(spec.name)) return;
    this.#checkedTools.add(spec.name);
    for (const found of compare(expected, definitionOf(spec), this.#marks))
      this.#report({ kind: "tool", scope, call: spec.name, nearest: null, ...found });
  }

  #unexpected(call: Call, calls: RecordedCalls | undefined): ToolwrightError {
    const { scope, spec, args } = call;
    const similar = calls?.all.findLast((one) => one.call.tool === spec.name);
    this.#report({
      kind: "call",
      scope,
      call: spec.name,
      path: "",
      expected: undefined,
      actual: args,
      nearest: similar === undefined ? null : nearestOf(similar),
    });
    return new ToolwrightError(
      "TOOL_REPLAY_DIFFERS",
      `The recorded run has no ${similar === undefined ? "" : "further "}call of "${spec.name}" in task "${scope.identity.nodeId}". Nothing was run.`,
      { details: { tool: spec.name }, effect: "none" },
    );
  }

  #unexpectedRequest(scope: Scope, { messages }: AskedModel): ToolwrightError {
    this.#report({
      kind: "request",
      scope,
      path: "",
      expected: undefined,
      actual: messages.at(-1),
      nearest: null,
    });
    return new ToolwrightError(
      "TOOL_REPLAY_DIFFERS",
      `The recorded run has no further response in task "${scope.identity.nodeId}". The model was not called.`,
      { effect: "none" },
    );
  }
}

/** Inner calls are part of the call that makes them, which does not run. */
function locationOf(location: {
  readonly nodeId: string;
  readonly path: string;
  readonly attempt: number;
}): string {
  return `${location.attempt} ${location.path} ${location.nodeId}`;
}

function nearestOf({ call, input }: RecordedCall): NearestRecord {
  return { attempt: call.attempt, key: call.key, tool: call.tool, input };
}

/** As the recorded run got it: code may decide by `replayed`. */
function outcomeOf(call: Call, recorded: FixtureCall): Result {
  const replayed = recorded.replayedFrom !== undefined;
  switch (recorded.status) {
    case "success":
      return {
        kind: "success",
        output: decodeJson(recorded.output),
        replayed,
        fromCache: recorded.fromCache ?? false,
      };
    case "error":
      return { kind: "error", error: toError(recorded.error) ?? withoutOutcome(call), replayed };
    case "denied":
      return { kind: "denied", approval: deniedApproval(call, recorded), replayed };
    default:
      return { kind: "error", error: toError(recorded.error) ?? withoutOutcome(call), replayed };
  }
}

/**
 * A result without what the log does not say about the outcomes in it: which of them a resume got from the log, and the
 * texts and times of a request.
 */
function comparable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(comparable);
  if (!isPlain(value)) return value;
  const isOutcome = "status" in value && "key" in value && typeof value["replayed"] === "boolean";
  const fields = Object.entries(value).filter(
    ([name]) => !isOutcome || (name !== "replayed" && name !== "approval"),
  );
  return Object.fromEntries(fields.map(([name, field]) => [name, comparable(field)]));
}

function withoutOutcome({ spec }: Call): ToolwrightError {
  return new ToolwrightError(
    "TOOL_OUTCOME_UNKNOWN",
    `The call of "${spec.name}" has no outcome in the recorded run. Nothing was run.`,
    { details: { tool: spec.name } },
  );
}

export function attemptFailed(nodeId: string, attempt: number): ToolwrightError {
  return new ToolwrightError(
    "WORKFLOW_TASK_FAILED",
    `Attempt ${attempt} of task "${nodeId}" failed when it was recorded.`,
  );
}

export function toError(error: Fixture["run"]["error"]): ToolwrightError | undefined {
  return error === undefined ? undefined : decodeError(JSON.stringify(error));
}
