/** No confinement: a command with access to the host's files and processes, but still with a clean environment. */
import type { Launch } from "./launch.ts";
import { LAUNCH, type PlanRequest, type Tier } from "./tier.ts";

export const none: Tier = {
  name: "none",
  enforces: { network: false, filesystem: false, processes: false, environment: false },
  showsHost: true,
  find: async () => ({}),
  plan: (_, request) => planPlain(request),
};

export function planPlain(request: Omit<PlanRequest, "plan">): Launch {
  return {
    ...LAUNCH,
    tier: "none",
    argv: [request.cmd, ...request.args],
    env: request.env,
    cwd: request.pinnedCwd ?? request.cwd,
    kill: "group",
  };
}
