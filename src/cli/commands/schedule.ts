/** `toolwright schedule set | list | pause | resume | rm`: recurring runs. */
import { type Command, Option } from "commander";
import { ToolwrightError } from "../../errors.ts";
import type { Schedule, Schedules } from "../../runtime/schedules.ts";
import { type Column, fitTable, outputWidth } from "../../terminal/fitted-table.ts";
import { type Acting, acting, EXIT, examples, withCommonOptions } from "../command.ts";
import { CliError } from "../cli-error.ts";
import { readJson, wholeNumber } from "../parse-options.ts";
import type { CommonOptions, Screen } from "../screen.ts";

interface SetOptions extends CommonOptions {
  readonly workflow: string;
  readonly cron?: string;
  readonly every?: number;
  readonly tz?: string;
  readonly input?: string;
  readonly overlap?: "skip" | "queue";
  readonly catchUp?: "none" | "last";
}

export function addScheduleCommand(program: Command): void {
  const schedule = program
    .command("schedule")
    .summary("start runs of a workflow on a schedule")
    .description("Schedules start runs of a workflow at fixed times. Workers start them.")
    .addHelpText(
      "after",
      examples(
        `toolwright schedule set nightly --workflow report --cron "0 3 * * *" --tz Europe/Berlin`,
        "toolwright schedule list",
      ),
    );
  addSet(schedule);
  addList(schedule);
  addChange(schedule, "pause", "stop starting runs of a schedule; queued runs still finish");
  addChange(schedule, "resume", "start the runs of a paused schedule again");
  addRemove(schedule);
}

function addSet(schedule: Command): void {
  const command = schedule
    .command("set")
    .summary("create or change a schedule")
    .description("Creates a schedule, or changes the schedule with this name.")
    .argument("<name>", "the name of the schedule")
    .requiredOption("--workflow <name>", "the workflow, by the name under which workers know it")
    .option("--cron <line>", 'when to start: a cron line such as "0 3 * * *"')
    .option("--every <ms>", "or a period in milliseconds, counted from now", wholeNumber(100))
    .option("--tz <zone>", "the time zone of the cron line (default: UTC)")
    .option("--input <json>", "the input of each run: JSON, @file, or - for stdin")
    .addOption(
      new Option("--overlap <how>", "if the previous run has not ended (default: skip)").choices([
        "skip",
        "queue",
      ]),
    )
    .addOption(
      new Option(
        "--catch-up <how>",
        "start runs for times at which no worker was running: none (default) or the last one",
      ).choices(["none", "last"]),
    );
  withCommonOptions(command)
    .addHelpText(
      "after",
      examples(
        `toolwright schedule set nightly --workflow report --cron "0 3 * * *" --tz Europe/Berlin`,
        "toolwright schedule set poll --workflow poll --every 60000 --overlap queue",
      ),
    )
    .action(
      acting(async ({ screen, options }: Acting<SetOptions>, name: string) => {
        const { workflow, cron, every, tz, overlap, catchUp } = options;
        if ((cron === undefined) === (every === undefined))
          throw new CliError(
            "CLI_USAGE",
            `A schedule needs --cron or --every, ${cron === undefined ? "and neither is given" : "not both"}.`,
            'Write --cron "0 3 * * *" for every day at 03:00, or --every 60000 for every minute.',
          );
        const input = options.input === undefined ? undefined : readJson("--input", options.input);
        const given = { name, workflow, cron, everyMs: every, tz, input, overlap, catchUp };
        const set = await withSchedules(options.store, (schedules) => schedules.set(given)).catch(nameFlag);
        printOne(screen, set);
        return EXIT.finished;
      }),
    );
}

const FLAGS: Readonly<Record<string, string>> = {
  name: "<name>",
  workflow: "--workflow",
  cron: "--cron",
  tz: "--tz",
  input: "--input",
};

/** The library names its own function and options. */
function nameFlag(error: unknown): never {
  if (!ToolwrightError.is(error) || error.code !== "TOOL_OPTION_INVALID") throw error;
  const [, option = "", problem] = /^runtime\.schedules\.set: (\w+)(.*)$/s.exec(error.message) ?? [];
  const flag = FLAGS[option];
  if (problem === undefined || flag === undefined) throw error;
  throw new CliError(error.code, `${flag}${problem}`, error.hint);
}

function addList(schedule: Command): void {
  const command = schedule.command("list").summary("list schedules and their next times");
  withCommonOptions(command)
    .description("Lists the schedules of the store, with the next time and the newest run of each.")
    .addHelpText("after", examples("toolwright schedule list", "toolwright schedule list --json"))
    .action(
      acting(async ({ screen, options }: Acting<CommonOptions>) => {
        const { isNotCreatedYet } = await import("../open.ts");
        const schedules = isNotCreatedYet(options.store, screen)
          ? []
          : await withSchedules(options.store, (all) => all.list());
        screen.printJson(schedules);
        if (schedules.length === 0) screen.print("There are no schedules.");
        else printTable(screen, schedules);
        return EXIT.finished;
      }),
    );
}

function addChange(schedule: Command, name: "pause" | "resume", what: string): void {
  const command = schedule.command(name).summary(what).argument("<name>", "the name of the schedule");
  withCommonOptions(command)
    .description(`${what.charAt(0).toUpperCase()}${what.slice(1)}.`)
    .addHelpText("after", examples(`toolwright schedule ${name} nightly`))
    .action(
      acting(async ({ screen, options }: Acting<CommonOptions>, schedulesName: string) => {
        const { assertStoreExists } = await import("../open.ts");
        assertStoreExists(options.store);
        printOne(screen, await withSchedules(options.store, (schedules) => schedules[name](schedulesName)));
        return EXIT.finished;
      }),
    );
}

function addRemove(schedule: Command): void {
  const command = schedule
    .command("rm")
    .summary("delete a schedule")
    .argument("<name>", "the name of the schedule");
  withCommonOptions(command)
    .description("Deletes a schedule and its queued runs. Runs that were started stay.")
    .addHelpText("after", examples("toolwright schedule rm nightly"))
    .action(
      acting(async ({ screen, options }: Acting<CommonOptions>, name: string) => {
        const { assertStoreExists } = await import("../open.ts");
        assertStoreExists(options.store);
        await withSchedules(options.store, (schedules) => schedules.remove(name));
        screen.printJson({ name, removed: true });
        screen.print(`Schedule "${name}" is deleted.`);
        return EXIT.finished;
      }),
    );
}

async function withSchedules<T>(store: string, work: (schedules: Schedules) => Promise<T>): Promise<T> {
  const { createRuntime } = await import("../../runtime/create-runtime.ts");
  await using runtime = createRuntime({ store });
  return await work(runtime.schedules);
}

function printOne(screen: Screen, schedule: Schedule): void {
  screen.printJson(schedule);
  const { paused, nextAtMs } = schedule;
  const next = nextAtMs === null ? "starts no more runs" : `next starts a run at ${timeOf(nextAtMs)}`;
  const when = paused ? "is paused" : next;
  screen.print(`Schedule "${schedule.name}" of workflow "${schedule.workflow}" ${when}.`);
}

function timeOf(ms: number | null): string {
  return ms === null ? "never" : new Date(ms).toISOString();
}

const COLUMNS: readonly Column[] = [
  { title: "NAME" },
  { title: "WORKFLOW", least: 8, drop: 3 },
  { title: "WHEN", least: 9 },
  { title: "NEXT" },
  { title: "QUEUED", drop: 2 },
  { title: "NEWEST RUN", least: 12, drop: 1 },
];

function printTable(screen: Screen, schedules: readonly Schedule[]): void {
  const rows = schedules.map(({ name, workflow, cron, everyMs, tz, paused, nextAtMs, queued, lastRunId }) => [
    name,
    workflow,
    cron === null ? `every ${everyMs} ms` : `${cron} ${tz}`,
    paused ? "paused" : timeOf(nextAtMs),
    queued === 0 ? "" : String(queued),
    lastRunId ?? "",
  ]);
  const table = fitTable(COLUMNS, rows, outputWidth());
  screen.printText(screen.paint("bold", table.head));
  for (const line of table.rows) screen.printText(line);
}
