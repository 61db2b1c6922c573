/** What the commands of one program share. */
import type { Runtime } from "../../runtime/runtime.ts";

/** An option that is not a field of the tool. Where a field has its name, it is spelled `--tool-<name>`. */
export interface OwnOption {
  readonly name: string;
  readonly value: string | undefined;
  readonly description: string;
  readonly isHidden?: boolean;
}

export type OwnValues = Readonly<Record<string, unknown>>;

export interface OpenedRuntime extends AsyncDisposable {
  readonly runtime: Runtime;
}

export interface CommandSettings {
  /** Names of options that belong to the program itself. */
  readonly reserved: readonly string[];
  readonly ownOptions: readonly OwnOption[];
  /** What a call runs in; disposed after it. */
  open(values: OwnValues): OpenedRuntime | Promise<OpenedRuntime>;
  /** A command of `toolwright` that settles a request from elsewhere. @param words what follows its name */
  decideCommand(words: readonly string[], values: OwnValues, runtime: Runtime): string | Promise<string>;
}

export const INPUT: OwnOption = {
  name: "input",
  value: "json",
  description: "the whole input as JSON; options count more",
};

export const RUN_ID: OwnOption = {
  name: "run-id",
  value: "id",
  description: "the run that the call belongs to (default: a new one); the same call in it is made once",
};
