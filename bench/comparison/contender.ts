/**
 * What a system does to take part in the comparison. Everything that is measured or counted goes through `script` and
 * `execute`, so a contender contains no clock and no counter, only the code that its own docs show.
 */
export interface Contender {
  readonly name: string;
  /** The packages whose versions the page shows. */
  readonly packages: readonly string[];
  /** One sentence: how it is set up here. */
  readonly setup: string;
  /** Its agent loop with nothing stored, or a sentence that says why there is none. */
  readonly plainAgent: ((job: AgentJob) => Promise<void>) | string;
  /** Its agent loop with every call stored, so that a new process can resume it, or why there is none. */
  readonly durableAgent: ((job: AgentJob) => Promise<void>) | string;
  /** A program of durable steps, or why there is none. */
  readonly steps: ((job: StepsJob) => Promise<void>) | string;
}

/** A call that the model asks for. Its id is random, as ids of real models are. */
export interface ScriptedCall {
  readonly id: string;
  readonly name: "order";
  readonly input: { readonly index: number };
}

/** Where a contender stores its data. */
export interface Place {
  /** An empty folder at the first start; the same folder, as it was left, at a resume. */
  readonly folder: string;
  /** Its own PostgreSQL database, with fsync. Empty if this contender does not use it. */
  readonly postgres: string;
}

interface Job {
  readonly place: Place;
  readonly runId: string;
  /** Whether an earlier process was killed in the middle of this run. */
  readonly isResume: boolean;
  /** Called when stores are open, right before the work starts or resumes: time counts from here. */
  begin(): void;
  /** The effect. `key` is what the contender offers as an idempotency key for this one call, if it offers any. */
  execute(index: number, key?: string): Promise<{ index: number }>;
  /**
   * Whether the order of this index has arrived outside, for a contender that asks an operator.
   * Counts that a question was asked.
   */
  ask(index: number): Promise<boolean>;
}

export interface AgentJob extends Job {
  /** The number of model responses that make calls. One more response ends the loop. */
  readonly turns: number;
  /** Whether tools take an idempotency key. */
  readonly isKeyed: boolean;
  /**
   * The calls of the next response; none if the loop is to end.
   *
   * @param results counts the tool results in the request, for a model that continues a resumed conversation
   */
  next(results: () => number): readonly ScriptedCall[];
}

export interface StepsJob extends Job {
  readonly count: number;
}
