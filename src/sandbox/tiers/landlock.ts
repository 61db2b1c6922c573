/**
 * Landlock with the seccomp filter, for systems without user namespaces, such as most containers. The command sees
 * the host's files under their own paths but may open only some. Landlock has no exceptions below a folder, so a
 * folder that holds something protected is allowed entry by entry. Existing entries can be changed, but nothing can
 * be created in it.
 */
import { mkdtempSync, rmdirSync } from "node:fs";
import { spawn } from "node:child_process";
import { join, relative } from "node:path";
import { ToolwrightError } from "../../errors.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { viewFor, type CommandView } from "../view/command-view.ts";
import type { Launch } from "./launch.ts";
import type { Identity } from "../protection/protection-plan.ts";
import { carveOut, type Carving } from "./carve-out.ts";
import { perlLauncher, type Step } from "./launcher/perl-launcher.ts";
import { findPerl, LAUNCH, need, pinnedRoot, type PlanRequest, type Programs, type Tier } from "./tier.ts";

export const landlock: Tier = {
  name: "landlock",
  // Names and arguments of other processes stay visible in /proc, and so does their shared memory.
  enforces: { network: true, filesystem: true, processes: false, environment: true },
  showsHost: true,
  limits:
    "Under Landlock, nothing can be added to a folder that holds protected files (choose a rootDir that holds none), and chmod fails.",
  find: findPerl,
  plan: planLandlock,
};

function planLandlock({ perl }: Programs, request: PlanRequest): Launch {
  const view = viewFor(request);
  const scratch = mkdtempSync(join(temporaryFolder() ?? noFolder(), "toolwright-tmp-"));
  const { argv, options } = perlLauncher(need(perl), {
    kind: "landlock",
    env: { ...request.env, HOME: scratch, TMPDIR: scratch },
    filter: {
      sockets: request.allowNetwork ? "internet" : "none",
      noUncheckedAccess: true,
      noOtherProcesses: true,
      noSetUserId: true,
    },
    cwd: relative(request.root, request.cwd) || ".",
    steps: [...systemSteps(view, request), ["allow", "rw", scratch], ...rootSteps(request)],
  });
  return {
    ...LAUNCH,
    tier: "landlock",
    argv: [...argv, request.cmd, ...request.args],
    options,
    env: {},
    cwd: pinnedRoot(request.plan),
    reports: true,
    lifeline: true,
    kill: "supervisor",
    onEnd: () => removeFolder(scratch),
  };
}

function noFolder(): never {
  throw new ToolwrightError(
    "TOOL_SANDBOX_UNAVAILABLE",
    "The command needs a temporary folder outside the root, and every one is inside it.",
    { hint: "Set TMPDIR to a folder outside the sandbox root.", effect: "none" },
  );
}

const DEVICES = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

function systemSteps(view: CommandView, { allowNetwork }: PlanRequest): Step[] {
  const { system, readOnly } = view;
  const closed = [system, view].flatMap(({ maskedFiles, maskedFolders }) => [
    ...maskedFiles,
    ...maskedFolders,
  ]);
  const exceptions = closed.map((path) => ({ path, access: "" }) as const);
  const resolver = allowNetwork && system.resolver !== undefined ? [system.resolver] : [];
  return [
    ...[...system.folders, ...readOnly].flatMap((path) => stepsOf(carveOut(path, exceptions), "r")),
    ...["/proc", ...resolver].map((path): Step => ["allow", "r", path]),
    ...DEVICES.map((path): Step => ["allow", "rw", path]),
  ];
}

function rootSteps({ root, rootReadOnly, plan }: PlanRequest): Step[] {
  const exceptions = plan.protections.flatMap(({ kind, path }) => {
    if (kind === "pin") return [];
    const isHidden = kind === "hideFile" || kind === "hideFolder";
    return isHidden || !rootReadOnly ? [{ path, access: isHidden ? "" : "r" } as const] : [];
  });
  // Sockets in the root need no exception: the filter denies sockets of their family.
  const carving = carveOut(root, exceptions);
  const identities = new Map(plan.protections.map(({ path, identity }) => [path, idOf(identity)]));
  return [
    ["known", [...identities.values()].join(" ")],
    ...stepsOf(
      carving.map((each) => ({
        ...each,
        path: relative(root, each.path) || ".",
        identity: identities.get(each.path),
      })),
      rootReadOnly ? "r" : "rw",
    ),
  ];
}

const idOf = ({ dev, ino }: Identity): string => `${dev}:${ino}`;

/** An entry that is left out of a folder has its own rule, or none. */
function stepsOf(
  carving: readonly (Carving & { readonly identity?: string | undefined })[],
  access: "r" | "rw",
): Step[] {
  return carving.flatMap((each): Step[] => {
    if (each.kind === "exception") return each.access === "" ? [] : [["allow", each.access, each.path]];
    if (each.leftOut.length === 0) return [["allow", access, each.path]];
    const ofEntries = each.readOnly ? "r" : access;
    return [
      ["carve", each.hides ? "l" : "r", ofEntries, each.path, each.leftOut.join("/"), each.identity ?? ""],
    ];
  });
}

/** Uses `rm`, which holds folders by descriptor: links that the command left must not lead elsewhere. */
function removeFolder(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    spawn("/bin/rm", ["-rf", "--", folder], { stdio: "ignore", env: {} })
      .on("error", () => undefined)
      .unref();
  }
}
