/** macOS and its `sandbox-exec`. Never run, because no macOS machine was available. */
import { isAbsolute } from "node:path";
import { findTrustedExecutable } from "./find-executable.ts";
import { isInside } from "../is-inside.ts";
import type { Launch } from "./launch.ts";
import { seatbeltProfile } from "./seatbelt-profile.ts";
import { findToolchains } from "../view/toolchains.ts";
import { LAUNCH, need, type PlanRequest, type Programs, type Tier } from "./tier.ts";

export const seatbelt: Tier = {
  name: "seatbelt",
  enforces: { network: true, filesystem: true, processes: false, environment: true },
  showsHost: true,
  async find() {
    const sandboxExec = findTrustedExecutable("sandbox-exec", "/usr/bin");
    return sandboxExec === undefined ? "there is no /usr/bin/sandbox-exec" : { sandboxExec };
  },
  plan: planSeatbelt,
};

const MACOS_SYSTEM = ["/usr", "/bin", "/sbin", "/System", "/Library", "/opt", "/Applications"];

function planSeatbelt({ sandboxExec }: Programs, request: PlanRequest): Launch {
  const { root, env, cmd, args, rootReadOnly, allowNetwork } = request;
  const home = env["HOME"] ?? "/var/empty";
  const toolchains = findToolchains({
    path: env["PATH"] ?? "",
    command: cmd,
    home,
    root,
    visible: MACOS_SYSTEM,
  });
  const outside = request.readOnly.filter((path) => isAbsolute(path) && !isInside(path, root));
  const profile = seatbeltProfile({
    root,
    rootReadOnly,
    home,
    allowNetwork,
    readOnly: [...toolchains.shown, ...outside],
    protections: [
      ...[...toolchains.maskedFiles, ...toolchains.maskedFolders].map(
        (path) => ({ kind: "hideFile", path }) as const,
      ),
      ...request.plan.protections,
    ],
  });
  return {
    ...LAUNCH,
    tier: "seatbelt",
    argv: [need(sandboxExec), "-p", profile, cmd, ...args],
    env,
    cwd: request.pinnedCwd ?? request.cwd,
    kill: "group",
  };
}
