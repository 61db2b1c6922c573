/** `npm run bench -- peers [--quick] [--json] [--only a,b] [--render]` */
import { parseArgs } from "node:util";
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

/** @throws if an option or a name is unknown */
export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: "boolean" },
      json: { type: "boolean" },
      render: { type: "boolean" },
      only: { type: "string" },
    },
  });
  const only = values.only?.split(",");
  const known = Object.keys(CONTENDERS);
  const unknown = only?.filter((name) => !known.includes(name)) ?? [];
  if (unknown.length > 0)
    throw new Error(`--only has the unknown names ${unknown.join(", ")}. Known are: ${known.join(", ")}.`);
  const { quick = false, json = false, render = false } = values;
  return { quick, json, render, only };
}
