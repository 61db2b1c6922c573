/** `toolwright calls <run-id>`: the tool calls of a run, in the order in which they were made. */
import type { Command } from "commander";
import { type Acting, acting, EXIT, examples, withCommonOptions } from "../command.ts";
import { type Column, fitTable, outputWidth } from "../../terminal/fitted-table.ts";
import { type CommonOptions, toDuration, toShortText } from "../screen.ts";

interface CallsOptions extends CommonOptions {
  readonly task?: string;
  readonly tool?: string;
}

/** No terminal is wider. */
const LONGEST = 1_000;

const COLUMNS: readonly Column[] = [
  { title: "TASK", least: 10 },
  { title: "ATTEMPT", drop: 2 },
  { title: "SEQ", drop: 1 },
  { title: "TOOL", least: 10 },
  { title: "STATUS" },
  { title: "TOOK", drop: 3 },
  { title: "INPUT", least: 8 },
  { title: "OUTPUT", least: 8 },
];

export function addCallsCommand(program: Command): void {
  const command = program
    .command("calls")
    .summary("list the tool calls of a run")
    .description("Lists the tool calls of a run, in the order in which they were made.")
    .argument("<run-id>", "the id of the run")
    .option("--task <id>", "only those of one task")
    .option("--tool <name>", "only those of one tool");
  withCommonOptions(command)
    .addHelpText(
      "after",
      examples("toolwright calls order-17", "toolwright calls order-17 --tool bash --json"),
    )
    .action(
      acting(async ({ screen, options }: Acting<CallsOptions>, runId: string) => {
        const { assertStoreExists, readKnownRun, withStore } = await import("../open.ts");
        const { readCallLog } = await import("../../store/tables/call-log.ts");
        const { ownersOf } = await import("../owner.ts");
        const { decodeError } = await import("../../invoke/error-record.ts");
        const { toShownStored } = await import("../../util/truncate.ts");
        assertStoreExists(options.store);
        const calls = await withStore(options.store, async (store) => {
          const filter = { runId, nodeId: options.task, toolName: options.tool };
          const found = await readCallLog(store, filter, ownersOf(store));
          // A run of a program has calls without being a workflow's.
          if (found.length === 0) await readKnownRun(store, options.store, runId);
          return found;
        });
        const shown = (json: string | null): unknown =>
          json === null ? null : (JSON.parse(toShownStored(json)) as unknown);
        screen.tell(
          calls.map((call) => ({
            ...call,
            input: shown(call.inputJson),
            output: shown(call.outputJson),
            error: call.errorJson === null ? null : decodeError(call.errorJson).toModel(),
          })),
        );
        if (calls.length === 0) {
          screen.say(
            options.task === undefined && options.tool === undefined
              ? "The run has made no calls."
              : "No call of the run matches --task and --tool.",
          );
          return EXIT.finished;
        }
        const endOf = ({ errorJson, outputJson }: (typeof calls)[number]): string => {
          if (errorJson !== null) return decodeError(errorJson).message;
          return outputJson === null ? "" : toShownStored(outputJson);
        };
        const rows = calls.map((call) => [
          call.path === "0" ? call.nodeId : `${call.nodeId}[${call.path}]`,
          String(call.attempt),
          String(call.seq),
          call.toolName,
          call.replayed
            ? `${call.status}, replayed`
            : call.fromCache
              ? `${call.status}, cached`
              : call.status,
          call.finishedAtMs === null ? "" : toDuration(call.finishedAtMs - call.startedAtMs),
          toShortText(call.inputJson === null ? "" : toShownStored(call.inputJson), LONGEST),
          toShortText(endOf(call), LONGEST),
        ]);
        const table = fitTable(COLUMNS, rows, outputWidth());
        screen.sayText(screen.paint("bold", table.head));
        for (const line of table.rows) screen.sayText(line);
        return EXIT.finished;
      }),
    );
}
