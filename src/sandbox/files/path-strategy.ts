/**
 * How a folder is held so that nobody can swap it, per operating system. Must never open anything through a link:
 * links are read and judged by the walk.
 */
import { closeSync, constants, openSync, readlinkSync, realpathSync } from "node:fs";
import { ToolwrightError } from "../../errors.ts";

/** An open folder. A child is addressed as `${base}/${name}`. */
export interface Directory {
  readonly descriptor: number;
  readonly base: string;
}

export interface PathStrategy {
  /** Part of the flags of every open of a file. */
  readonly fileFlags: number;
  /** Opens the root, which alone may be reached through links: whoever chose it is trusted. */
  openRoot(rootDir: string): { directory: Directory; realPath: string };
  openChild(parent: Directory, name: string): Directory;
}

export function strategyFor(platform: NodeJS.Platform): PathStrategy {
  if (platform === "linux") return descriptorStrategy;
  if (platform === "darwin") return realPathStrategy(O_NOFOLLOW_ANY);
  throw new ToolwrightError(
    "TOOL_PLATFORM_UNSUPPORTED",
    `The sandboxed file tools work on Linux and macOS; this is ${platform}.`,
    { effect: "none" },
  );
}

// Node names neither flag. O_PATH has this value on every architecture that Node is built for.
const O_PATH = 0o10000000;
const O_NOFOLLOW_ANY = 0x20000000;

const ROOT_FLAGS = O_PATH | constants.O_DIRECTORY;
const CHILD_FLAGS = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** Linux: `/proc/self/fd/N/name` is `openat(N, name)`, so a folder that is swapped after it was opened does no harm. */
const descriptorStrategy: PathStrategy = {
  fileFlags: constants.O_NOFOLLOW,
  openRoot(rootDir) {
    const descriptor = openSync(rootDir, ROOT_FLAGS);
    const base = `/proc/self/fd/${descriptor}`;
    try {
      return { directory: { descriptor, base }, realPath: readlinkSync(base) };
    } catch {
      // The only link that is always there is missing, so there is no /proc.
      closeSync(descriptor);
      throw new ToolwrightError(
        "TOOL_SANDBOX_UNAVAILABLE",
        "The file tools need /proc, which is not mounted here.",
        {
          effect: "none",
        },
      );
    }
  },
  openChild(parent, name) {
    const descriptor = openSync(`${parent.base}/${name}`, CHILD_FLAGS);
    return { descriptor, base: `/proc/self/fd/${descriptor}` };
  },
};

/**
 * macOS has no path that leads through a descriptor. Each open takes the real path, and the kernel refuses it when any
 * part of it has become a link. `mkdir` and `rename` have no such flag: there a swap in the very moment of the call is
 * left, and what it can do is to make an empty folder elsewhere, since the temporary file is not found there.
 *
 * The flag comes in from outside, so that the same steps can be tested where the kernel knows only O_NOFOLLOW.
 */
export function realPathStrategy(nofollow: number): PathStrategy {
  const open = (path: string): Directory => ({
    descriptor: openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | nofollow),
    base: path,
  });
  return {
    fileFlags: nofollow,
    openRoot(rootDir) {
      const realPath = realpathSync.native(rootDir);
      return { directory: open(realPath), realPath };
    },
    openChild: (parent, name) => open(`${parent.base}/${name}`),
  };
}
