/**
 * What one command sees of the machine beside its root, for the tiers that build a file system for it: the system, the
 * toolchains, and what the caller names, each read-only, and what is masked in these.
 */
import { existsSync } from "node:fs";
import { isAbsolute } from "node:path";
import { findHostSockets } from "./host-sockets.ts";
import { hostView, type HostView } from "./host-view.ts";
import { isInside } from "./is-inside.ts";
import { findToolchains } from "./toolchains.ts";

export interface CommandView {
  readonly system: HostView;
  readonly home: string;
  /** Outside the root, shown read-only: toolchains, and what the caller names. */
  readonly readOnly: readonly string[];
  /** Files outside and sockets anywhere that have to stay out of reach. */
  readonly masked: readonly string[];
}

export interface CommandViewRequest {
  readonly cmd: string;
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;
  readonly hidden: readonly string[];
  readonly readOnly: readonly string[];
}

export function viewFor(request: CommandViewRequest): CommandView {
  const { root, env } = request;
  const system = hostView.read();
  const home = env["HOME"] !== undefined && isAbsolute(env["HOME"]) ? env["HOME"] : "/nonexistent";
  const toolchains = findToolchains({
    path: env["PATH"] ?? "",
    command: request.cmd,
    home,
    root,
    visible: [...system.folders, ...system.links.map(({ path }) => path)],
  });
  const outside = request.readOnly.filter((path) => isAbsolute(path) && !isInside(path, root));
  const shown = [...system.folders, ...toolchains.shown, ...outside, root];
  const hiddenOutside = request.hidden.filter((path) => {
    return isAbsolute(path) && !isInside(path, root) && shown.some((folder) => isInside(path, folder));
  });
  return {
    system,
    home,
    readOnly: [...toolchains.shown, ...outside],
    // A network of its own does not cover sockets on paths, and the host's network is no reason to open them.
    masked: [...toolchains.masked, ...findHostSockets(shown, root), ...hiddenOutside.filter(existsSync)],
  };
}
