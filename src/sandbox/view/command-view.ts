/**
 * The parts of the machine that one command sees besides its root, for the tiers that build a file system: the system, the
 * toolchains and the paths that the caller names, all read-only, and the masks in them.
 */
import { existsSync } from "node:fs";
import { isAbsolute } from "node:path";
import { findHostSockets } from "./host-sockets.ts";
import { hostView, type HostView } from "./host-view.ts";
import { isInside } from "../is-inside.ts";
import { findToolchains, searchToolchains, type ToolchainRequest } from "./toolchains.ts";

export interface CommandView {
  readonly system: HostView;
  readonly home: string;
  /** Outside the root, visible read-only: toolchains and paths that the caller names. */
  readonly readOnly: readonly string[];
  /** Files outside the root, and sockets anywhere, that must stay out of reach. */
  readonly maskedFiles: readonly string[];
  /** Folders outside the root that appear empty. */
  readonly maskedFolders: readonly string[];
}

export interface CommandViewRequest {
  readonly cmd: string;
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;
  readonly hidden: readonly string[];
  readonly readOnly: readonly string[];
}

export function viewFor(request: CommandViewRequest): CommandView {
  const { root } = request;
  const system = hostView.read();
  const home = homeOf(request);
  const toolchains = findToolchains(toolchainRequest(request, system));
  const outside = request.readOnly.filter((path) => isAbsolute(path) && !isInside(path, root));
  const shown = [...system.folders, ...toolchains.shown, ...outside, root];
  const hiddenOutside = request.hidden.filter((path) => {
    return isAbsolute(path) && !isInside(path, root) && shown.some((folder) => isInside(path, folder));
  });
  return {
    system,
    home,
    readOnly: [...toolchains.shown, ...outside],
    // A network namespace does not cover sockets on paths, and access to the host's network does not justify exposing
    // them.
    maskedFiles: [
      ...toolchains.maskedFiles,
      ...findHostSockets(shown, root),
      ...hiddenOutside.filter(existsSync),
    ],
    maskedFolders: toolchains.maskedFolders,
  };
}

/** Call it before `viewFor`: a large toolchain takes seconds to search, once per process. */
export function prepareView(request: CommandViewRequest): Promise<void> {
  return searchToolchains(toolchainRequest(request, hostView.read()));
}

function toolchainRequest(request: CommandViewRequest, system: HostView): ToolchainRequest {
  return {
    path: request.env["PATH"] ?? "",
    command: request.cmd,
    home: homeOf(request),
    root: request.root,
    visible: [...system.folders, ...system.links.map(({ path }) => path)],
  };
}

function homeOf({ env }: CommandViewRequest): string {
  return env["HOME"] !== undefined && isAbsolute(env["HOME"]) ? env["HOME"] : "/nonexistent";
}
