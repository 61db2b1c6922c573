/** Labels on the command line: `key=value`. */
import { CliError } from "./cli-error.ts";

/** @throws CliError */
export function parseLabels(given: readonly string[] | undefined): Record<string, string> | undefined {
  if (given === undefined) return undefined;
  return Object.fromEntries(
    given.map((text) => {
      const at = text.indexOf("=");
      if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
      throw new CliError(
        "CLI_USAGE",
        `--label must be key=value, not ${JSON.stringify(text)}.`,
        "Write: --label customer=acme",
      );
    }),
  );
}
