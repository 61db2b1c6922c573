/**
 * The seccomp filter alone. It claims nothing: without file confinement, a command can inject code into another
 * process of the user (`/proc/PID/mem`, a start-up file), and that process has the network. `bash` refuses to run in
 * this tier. `grep`, which runs our own program, uses it as better than nothing.
 */
import type { Launch } from "./launch.ts";
import { perlLauncher } from "./launcher/perl-launcher.ts";
import { findPerl, LAUNCH, need, type PlanRequest, type Programs, type Tier } from "./tier.ts";

export const seccomp: Tier = {
  name: "seccomp",
  enforces: { network: false, filesystem: false, processes: false, environment: false },
  showsHost: true,
  find: findPerl,
  plan: planSeccomp,
};

function planSeccomp({ perl }: Programs, request: PlanRequest): Launch {
  const { argv, options } = perlLauncher(need(perl), {
    kind: "filter",
    env: request.env,
    filter: {
      sockets: request.allowNetwork ? "internet" : "none",
      noOtherProcesses: true,
      noSetUserId: true,
    },
    cwd: ".",
    steps: [],
  });
  return {
    ...LAUNCH,
    tier: "seccomp",
    argv: [...argv, request.cmd, ...request.args],
    options,
    env: {},
    cwd: request.pinnedCwd ?? request.cwd,
    reports: true,
    lifeline: true,
    kill: "supervisor",
  };
}
