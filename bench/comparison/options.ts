/** `npm run bench -- peers [--quick] [--json] [--only a,b] [--render]` */
import { parseArgs } from "node:util";
import { BenchError } from "../bench-error.ts";
import { CONTENDERS } from "./contenders.ts";

export interface Options {
  /** Small sizes: shows that everything works, in about a minute. Writes no file. */
  readonly quick: boolean;
  /** Prints JSON instead of the table. */
  readonly json: boolean;
  /** Makes the page and the charts again from the stored numbers, and measures nothing. */
  readonly render: boolean;
  /** Some contenders. Writes no file. */
  readonly only: readonly string[] | undefined;
}

const OPTIONS = {
  quick: { type: "boolean" },
  json: { type: "boolean" },
  render: { type: "boolean" },
  only: { type: "string" },
} as const;

/** @throws BenchError if an option or a name is unknown, or if options exclude each other */
export function readOptions(args: readonly string[]): Options {
  const { quick = false, json = false, render = false, ...values } = parse(args);
  if (render && args.length > 1)
    throw new BenchError("--render measures nothing, so it takes no other option.");
  const only = values.only?.split(",");
  const known = Object.keys(CONTENDERS);
  const unknown = only?.filter((name) => !known.includes(name)) ?? [];
  if (unknown.length > 0) {
    const names = unknown.map((name) => `"${name}"`).join(", ");
    throw new BenchError(`--only has the unknown names ${names}. Known are: ${known.join(", ")}.`);
  }
  return { quick, json, render, only: only && [...new Set(only)] };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS }).values;
  } catch (error) {
    throw new BenchError(`${(error as Error).message}\nOptions: --quick, --json, --only <a,b>, --render`);
  }
}
