/** `toolwright doctor`: checks everything that a run needs. */
import type { Command } from "commander";
import { type Acting, acting, EXIT, examples, withCommonOptions } from "../command.ts";
import type { Measurement } from "../../operate/machine/measurement.ts";
import { CliError } from "../cli-error.ts";
import type { Check } from "../examine.ts";
import type { Colour, CommonOptions, Screen } from "../screen.ts";

type DoctorOptions = CommonOptions & { readonly bench?: boolean };

const COLOURS: Readonly<Record<string, Colour>> = { ok: "green", note: "yellow", wrong: "red" };

export function addDoctorCommand(program: Command): void {
  const command = program
    .command("doctor")
    .summary("check Node, the store, the sandbox and optional packages")
    .description(
      "Checks the Node version, the store, the sandbox for commands, and optional packages. " +
        "With --bench it also measures commits, calls and the sandbox, and says what is slow.",
    )
    .option("--bench", "measure this machine, for at most ten seconds");
  withCommonOptions(command)
    .addHelpText(
      "after",
      examples(
        "toolwright doctor",
        "toolwright doctor --bench",
        "toolwright doctor --store postgres://localhost/app",
      ),
    )
    .action(
      acting(async ({ screen, options }: Acting<DoctorOptions>) => {
        const { examine } = await import("../examine.ts");
        const checks = await examine(options.store);
        const isOk = checks.every((check) => check.status !== "wrong");
        printChecks(screen, checks);
        const wrong = checks.find(({ name, status }) => name === "store" && status === "wrong");
        const bench = options.bench === true ? await measure(screen, options.store, wrong) : undefined;
        screen.printJson({ ok: isOk, checks, ...(bench === undefined ? {} : { bench }) });
        return isOk ? EXIT.finished : EXIT.failed;
      }),
    );
}

/** @param storeFailure the check of the store, if it has failed: the measurement does not wait for the store again */
async function measure(
  screen: Screen,
  store: string,
  storeFailure: Check | undefined,
): Promise<readonly Measurement[]> {
  const { measureMachine } = await import("../../operate/machine/measure-machine.ts");
  const { stopOnSignals } = await import("../../terminal/stop-on-signals.ts");
  screen.print("");
  using stop = stopOnSignals({
    onFirst: (name) => screen.warn(`${name}: removing what the measurement wrote.`),
    onOverdue: () => undefined,
    exitCode: () => EXIT.failed,
  });
  const measurements = await measureMachine(store, { signal: stop.signal, storeFailure }).catch(
    (error: unknown) => {
      if (stop.received === undefined) throw error;
      throw new CliError(
        "CLI_STOPPED",
        `The measurement was stopped by ${stop.received}.`,
        "It left nothing behind.",
      );
    },
  );
  printChecks(screen, measurements);
  return measurements;
}

type Printed = Pick<Check, "name" | "status" | "detail" | "remedy">;

function printChecks(screen: Screen, checks: readonly Printed[]): void {
  const width = Math.max(9, ...checks.map(({ name }) => (name.startsWith("@") ? 0 : name.length)));
  for (const { name, status, detail, remedy } of checks) {
    const shown = screen.paint(COLOURS[status] ?? "gray", status.padEnd(5));
    screen.print(`${shown}  ${name.padEnd(width)}  ${detail}`);
    if (remedy !== null) screen.print(`${" ".repeat(width + 9)}${remedy}`);
  }
}
