/**
 * Runs one command of an agent: validates it, confines it, runs it and reports how it ended. It lists the stages in
 * order; each stage has its own file. It must never run a command outside the tier that the caller asked for.
 */
import { randomUUID } from "node:crypto";
import { ToolwrightError } from "../../errors.ts";
import { codePaths } from "../../load/code-paths.ts";
import { cleanEnvironment } from "../tiers/clean-environment.ts";
import { processIsolation, type Isolation, type Use } from "../tiers/isolation.ts";
import type { Detected } from "../tiers/detect-isolation.ts";
import { type CommandGuard, guardCommand } from "../protection/guard-command.ts";
import { planProtections } from "../protection/plan-protections.ts";
import { noteCommand } from "../protection/untrusted-files.ts";
import { keepOutOf } from "../temporary-folder.ts";
import type { IsolationMode, IsolationTier } from "../tiers/isolation-tier.ts";
import { planPlain } from "../tiers/none.ts";
import type { PlanRequest } from "../tiers/tier.ts";
import { checkCommandInput, checkEnvironment, checkProcessLimits } from "./command-limits.ts";
import { refuseMissingProgram, toCommandResult, toStartError } from "./command-outcome.ts";
import { CALL_MARK } from "./kill-descendants.ts";
import { judgeNetworkUse } from "./network-rule.ts";
import { toRealPaths } from "./real-paths.ts";
import { prepareView } from "../view/command-view.ts";
import { resolveInside } from "./resolve-inside.ts";
import { runProcess, type ProcessRequest, type ProcessResult } from "./run-process.ts";

export interface CommandRequest {
  readonly cmd: string;
  readonly args: readonly string[];
  /** Relative to the root, or absolute within it. Defaults to the root. */
  readonly cwd?: string | undefined;
  readonly rootDir: string;
  readonly allowNetwork: boolean;
  readonly maxOutputBytes: number;
  readonly timeoutMs: number;
  readonly isolation: IsolationMode;
  readonly signal?: AbortSignal | undefined;
  /** Variables that the command gets in addition to the allow-list. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Paths that the command must not see, such as the store's files. */
  readonly hidden?: readonly string[] | undefined;
  /** Inside the root: not writable. Outside the root: visible, which it would not be otherwise. */
  readonly readOnly?: readonly string[] | undefined;
  readonly rootReadOnly?: boolean | undefined;
  /** For tests. Defaults to the isolation of this process. */
  readonly on?: Isolation | undefined;
}

export interface CommandResult {
  /** Both streams, in the order in which they were written. */
  readonly output: string;
  readonly exitCode: number;
  readonly signal: NodeJS.Signals | null;
  readonly truncated: boolean;
  readonly tier: IsolationTier;
}

export async function runCommand(request: CommandRequest): Promise<CommandResult> {
  checkCommandInput(request);
  checkProcessLimits(request);
  checkEnvironment(request.env ?? {});
  if (!request.allowNetwork) refuseNetworkUse(request);
  refuseAborted(request.signal);
  const { result, tier } = await runConfined(request, true);
  return toCommandResult(request, result, tier);
}

/** The part that a search shares: everything between validation and the interpretation of the outcome. */
export async function runConfined(
  request: CommandRequest & { readonly floodBytes?: number | undefined },
  merge: boolean,
  use: Use = "command",
): Promise<{ readonly result: ProcessResult; readonly tier: IsolationTier }> {
  // Compute this before the first command can change where a package is found.
  codePaths();
  const location = resolveInside(request.rootDir, request.cwd);
  try {
    if (!location.isFolder) throw notAFolder(request.cwd);
    keepOutOf(location.realRoot);
    const detected = await (request.on ?? processIsolation).choose(request.isolation, location.roots, use);
    const { tier } = detected.description;
    const plain: Omit<PlanRequest, "plan"> = {
      cmd: request.cmd,
      args: request.args,
      root: location.realRoot,
      cwd: location.realPath,
      pinnedCwd: location.pinned,
      rootReadOnly: request.rootReadOnly ?? false,
      env: environmentOf(request, location.roots, tier),
      allowNetwork: request.allowNetwork,
      hidden: toRealPaths(request.hidden ?? [], location.roots),
      readOnly: toRealPaths(request.readOnly ?? [], location.roots),
    };
    if (detected.showsHost) refuseMissingProgram(plain);
    if (detected.description.enforces.filesystem) await prepareView(plain);
    const process = { ...request, merge, limited: tier !== "none" };
    const result =
      tier === "none"
        ? await runProcess({ ...process, launch: planPlain(plain) }).catch((error) =>
            toStartError(error, tier),
          )
        : await runGuarded(detected, plain, process);
    return { result, tier };
  } finally {
    location.close();
  }
}

/** How often the sandbox is built if the root changes during the build. */
const MAX_BUILDS = 4;

async function runGuarded(
  detected: Detected,
  plain: Omit<PlanRequest, "plan">,
  process: Omit<ProcessRequest, "launch">,
): Promise<ProcessResult> {
  const { tier } = detected.description;
  for (let build = 1; ; build += 1) {
    const plan = planProtections(plain);
    const forget = plain.rootReadOnly ? undefined : noteCommand(plan.root.path, plan.finds.own);
    let guard: CommandGuard | undefined;
    try {
      guard = plain.rootReadOnly ? undefined : guardCommand(plan, tier);
      const result = await runProcess({
        ...process,
        launch: detected.plan({ ...plain, plan }),
        onSpawn: (stop) => guard?.start(stop),
      }).catch((error: unknown) => toStartError(error, tier));
      // A file outside the root, such as a key in /etc, may vanish between the plan and its mount.
      const isStale = result.stopped === undefined && build < MAX_BUILDS && failedAtMount(result);
      if (isStale) continue;
      if (result.stopped !== "mismatch") {
        guard?.finish();
        return result;
      }
      if (build === MAX_BUILDS) throw changedWhileBuilt(result.mismatch ?? "", tier);
    } finally {
      guard?.close();
      forget?.();
      plan.close();
    }
  }
}

/** Whether the launcher failed because a path of the plan is gone. Nothing has run then. */
function failedAtMount({ status, signal, output, errors }: ProcessResult): boolean {
  if (status.execErrno !== undefined || status.exitCode !== undefined || signal !== null) return false;
  const words = status.failed ?? `${output.text()}${errors.text()}`;
  return /^bwrap: Can't |No such file or directory/.test(words) && !words.includes("execvp");
}

function changedWhileBuilt(mismatch: string, tier: IsolationTier): ToolwrightError {
  const message = `The command was not started, because the root changed while its sandbox was built: ${mismatch}.`;
  return new ToolwrightError("TOOL_SANDBOX_UNAVAILABLE", message, {
    details: { tier },
    hint: "Another command that is still running may be changing protected paths. Wait for it to end, or stop it.",
    effect: "none",
    retryable: true,
  });
}

function environmentOf(
  { env }: CommandRequest,
  roots: readonly string[],
  tier: IsolationTier,
): Record<string, string> {
  const extra = tier === "none" ? { ...env, [CALL_MARK]: randomUUID() } : env;
  return cleanEnvironment({ from: process.env, roots, extra });
}

function refuseNetworkUse({ cmd, args }: CommandRequest): void {
  const verdict = judgeNetworkUse(cmd, args);
  if (verdict === undefined) return;
  const what = verdict === "TOOL_NETWORK_DISABLED" ? "uses the network" : "uses a git remote";
  throw new ToolwrightError(verdict, `The command ${JSON.stringify(cmd)} ${what}, and the network is off.`, {
    effect: "none",
  });
}

function refuseAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted !== true) return;
  throw new ToolwrightError("TOOL_ABORTED", "The call was aborted before the command was started.", {
    effect: "none",
    cause: signal.reason,
  });
}

function notAFolder(cwd: string | undefined): ToolwrightError {
  const message = `The working directory must be a folder: ${JSON.stringify(cwd)}.`;
  return new ToolwrightError("TOOL_NOT_A_DIRECTORY", message, { effect: "none" });
}
