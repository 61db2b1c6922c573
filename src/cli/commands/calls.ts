/** `toolwright calls <run-id>`: the tool calls of a run, in the order in which they were made. */
import type { Command } from "commander";
import { type Acting, acting, EXIT, examples, withCommonOptions } from "../command.ts";
import { type Column, fitTable, outputWidth } from "../../terminal/fitted-table.ts";
import { toTerminalName } from "../../terminal/terminal-text.ts";
import type { CommonOptions } from "../screen.ts";
import { toDuration, toShortText } from "../../terminal/readable.ts";

interface CallsOptions extends CommonOptions {
  readonly task?: string;
  readonly tool?: string;
}

/** Wider than any terminal. */
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
    .option("--task <id>", "only calls of this task")
    .option("--tool <name>", "only calls of this tool");
  withCommonOptions(command)
    .addHelpText(
      "after",
      examples("toolwright calls order-17", "toolwright calls order-17 --tool bash --json"),
    )
    .action(
      acting(async ({ screen, options }: Acting<CallsOptions>, runId: string) => {
        const { assertRunExists, assertStoreExists } = await import("../open.ts");
        const { withStore } = await import("../../operate/find-run.ts");
        const { listCalls } = await import("../../operate/list-calls.ts");
        const { toShownStored } = await import("../../util/truncate.ts");
        assertStoreExists(options.store);
        const calls = await withStore(options.store, async (store) => {
          const filter = { runId, nodeId: options.task, toolName: options.tool };
          const found = await listCalls(store, filter);
          if (found.length === 0) await assertRunExists(store, options.store, runId);
          return found;
        });
        screen.printJson(calls);
        if (calls.length === 0) {
          screen.print(
            options.task === undefined && options.tool === undefined
              ? "The run made no calls."
              : `No call of the run matches ${filtersOf(options)}.`,
          );
          return EXIT.finished;
        }
        const resultOf = ({ error, outputJson }: (typeof calls)[number]): string => {
          if (error !== null) return error.message;
          return outputJson === null ? "" : toShownStored(outputJson);
        };
        const rows = calls.map((call) => [
          // The path of reverts is a word: they are in no loop.
          call.path === "0" || !/^\d/.test(call.path) ? call.nodeId : `${call.nodeId}[${call.path}]`,
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
          toShortText(resultOf(call), LONGEST),
        ]);
        const table = fitTable(COLUMNS, rows, outputWidth());
        screen.printText(screen.paint("bold", table.head));
        for (const line of table.rows) screen.printText(line);
        return EXIT.finished;
      }),
    );
}

function filtersOf({ task, tool }: CallsOptions): string {
  const given = [
    ["--task", task],
    ["--tool", tool],
  ].flatMap(([flag, value]) => (value === undefined ? [] : [`${flag} ${toTerminalName(value)}`]));
  return given.join(" and ");
}
