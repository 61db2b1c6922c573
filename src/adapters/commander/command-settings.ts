/** Settings that the commands of one program share. */
import type { Runtime } from "../../runtime/runtime.ts";

/** An option that is not a field of the tool. If a field has the same name, the option is `--tool-<name>`. */
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
  /** How the program is typed in printed commands. Default: its name. */
  readonly calledAs?: () => string;
  /** Names of the program's own options. */
  readonly reserved: readonly string[];
  readonly ownOptions: readonly OwnOption[];
  /** Opens the runtime of a call, which is disposed after it. */
  open(values: OwnValues): OpenedRuntime | Promise<OpenedRuntime>;
  /**
   * A `toolwright` command that decides an approval from another terminal.
   * @param words the arguments of the command
   */
  decideCommand(words: readonly string[], values: OwnValues, runtime: Runtime): string | Promise<string>;
}

export const INPUT: OwnOption = {
  name: "input",
  value: "json",
  description: "the whole input as JSON; options take precedence",
};

export const RUN_ID: OwnOption = {
  name: "run-id",
  value: "id",
  description: "the run of the call (default: a new one); a run makes the same call only once",
};
