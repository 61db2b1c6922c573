/** The options of the snapshot functions. `isolation` can turn the sandbox off. */
import { aFullText, anInteger, anIsolation, aSignal, aStore, aText } from "../definition/option-checks.ts";
import { optionTable, type OptionTable } from "../definition/option-table.ts";

const COMMON = { rootDir: aFullText, runId: aText, store: aStore, isolation: anIsolation };

export const LIST_SNAPSHOTS: OptionTable = optionTable("listGitSnapshots", COMMON, { required: ["rootDir"] });

export const REMOVE_SNAPSHOTS: OptionTable = optionTable("removeGitSnapshots", COMMON, {
  required: ["rootDir", "runId"],
});

export const RESTORE_SNAPSHOT: OptionTable = optionTable(
  "restoreGitSnapshot",
  { ...COMMON, seq: anInteger(0), signal: aSignal },
  { required: ["rootDir", "runId", "seq"] },
);
